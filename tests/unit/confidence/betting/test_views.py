from __future__ import annotations

import numpy as np

from voful.compiled import kernel
from voful.confidence.betting.views import view
from voful.typing import FloatArray


@kernel
def parts(memory: FloatArray) -> tuple[FloatArray, FloatArray]:
    return view(memory, 2, (2, 3)), view(memory, 8, (4,))


def test_a_view_is_a_slice_reshaped() -> None:
    memory = np.arange(12.0)
    matrix, vector = parts(memory)
    np.testing.assert_array_equal(matrix, memory[2:8].reshape(2, 3))
    np.testing.assert_array_equal(vector, memory[8:])
    assert matrix.flags.c_contiguous
    matrix[1, 2] = -1.0
    assert memory[7] == -1.0


def test_a_view_keeps_its_memory_alive() -> None:
    matrix, _ = parts(np.arange(12.0) + 0.5)
    np.empty(12).fill(np.nan)  # may get the memory, were it free
    np.testing.assert_array_equal(matrix, np.arange(2.5, 8.5).reshape(2, 3))

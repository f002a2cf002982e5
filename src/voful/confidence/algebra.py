"""Matrix algebra of confidence sets: the only place where a matrix is updated or factorised.

Beside a positive definite M, the plain sum that it is, stands its whitener: the lower triangular
W = L^-1 of M = L L', so that M^-1 = W'W and |x|_{M^-1} = |W x|, a sum of squares that rounding
cannot make negative. W is updated with M in O(d^2), with relative errors of the order of the root
of M's condition number, and taken anew from M from time to time.

`whitener` holds W transposed: row j is column j of W, zero left of the diagonal. Products with W
are then sums of rows, whose entries are independent sums: they vectorise in the order written.
"""

from __future__ import annotations

import math

import numpy as np

from voful.compiled import inlined, kernel, part
from voful.typing import FloatArray
from voful.views import lent

REFACTORISE_EVERY = 512
SIDE_BY_SIDE = 8  # from so many rows on it pays to transpose them
BLOCK = 128  # rows that stay in the cache
CANCELLED = 1e-12  # a pivot this small against its diagonal is made of rounding errors


@part
def dot(u: FloatArray, v: FloatArray) -> float:
    """<u, v>."""
    total = 0.0
    for i in range(u.shape[0]):
        total += u[i] * v[i]
    return total


@kernel
def dots(X: FloatArray, v: FloatArray) -> FloatArray:
    """<x, v> for the rows x of X; a row gives the same bits alone and among others."""
    out = np.empty(X.shape[0])
    for i in range(X.shape[0]):
        out[i] = dot(X[i], v)
    return out


@kernel
def quadratic_form(symmetric: FloatArray, x: FloatArray) -> float:
    """x' A x for symmetric A."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * dot(symmetric[i], x)
    return total


@part
def whiten(whitener: FloatArray, x: FloatArray, out: FloatArray) -> float:
    """out = W x; returns |W x|^2 = x' M^-1 x."""
    d = x.shape[0]
    i = 0
    while i + 4 <= d:  # four independent sums at a time; left of the diagonal stand zeros
        t0 = t1 = t2 = t3 = 0.0
        for j in range(i + 4):
            t0 += x[j] * whitener[j, i]
            t1 += x[j] * whitener[j, i + 1]
            t2 += x[j] * whitener[j, i + 2]
            t3 += x[j] * whitener[j, i + 3]
        out[i], out[i + 1], out[i + 2], out[i + 3] = t0, t1, t2, t3
        i += 4
    while i < d:
        t0 = 0.0
        for j in range(i + 1):
            t0 += x[j] * whitener[j, i]
        out[i] = t0
        i += 1
    return dot(out, out)


@part
def symmetric_times(symmetric: FloatArray, x: FloatArray, out: FloatArray) -> None:
    """out = A x for symmetric A: its rows, four for one look at an entry of the sum."""
    d = x.shape[0]
    for i in range(d):
        out[i] = 0.0
    j = 0
    while j + 4 <= d:
        x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
        for i in range(d):
            total = out[i] + x0 * symmetric[j, i]
            total += x1 * symmetric[j + 1, i]
            total += x2 * symmetric[j + 2, i]
            out[i] = total + x3 * symmetric[j + 3, i]
        j += 4
    while j < d:
        for i in range(d):
            out[i] += x[j] * symmetric[j, i]
        j += 1


@part
def unwhiten(whitener: FloatArray, p: FloatArray, out: FloatArray) -> None:
    """out = W' p, so that unwhitening a whitened x gives M^-1 x."""
    d = p.shape[0]
    j = 0
    while j + 4 <= d:
        t0 = t1 = t2 = t3 = 0.0
        for i in range(j, d):
            t0 += whitener[j, i] * p[i]
            t1 += whitener[j + 1, i] * p[i]
            t2 += whitener[j + 2, i] * p[i]
            t3 += whitener[j + 3, i] * p[i]
        out[j], out[j + 1], out[j + 2], out[j + 3] = t0, t1, t2, t3
        j += 4
    while j < d:
        t0 = 0.0
        for i in range(j, d):
            t0 += whitener[j, i] * p[i]
        out[j] = t0
        j += 1


@part
def cholesky(symmetric: FloatArray, lower: FloatArray) -> bool:
    """A = L L'; False where A is not positive definite to working precision."""
    d = symmetric.shape[0]
    for i in range(d):
        for j in range(i + 1):
            entry = symmetric[i, j]
            for k in range(j):
                entry -= lower[i, k] * lower[j, k]
            if i == j:
                if not entry > CANCELLED * symmetric[i, i]:
                    return False
                lower[i, i] = math.sqrt(entry)
            else:
                lower[i, j] = entry / lower[j, j]
        for j in range(i + 1, d):
            lower[i, j] = 0.0
    return True


@part
def whitener_from(symmetric: FloatArray, whitener: FloatArray) -> bool:
    """W = L^-1 of A = L L'; False, and nothing changed, where `cholesky` fails."""
    d = symmetric.shape[0]
    lower = np.empty((d, d))
    if not cholesky(symmetric, lower):
        return False
    for j in range(d):  # column j of W: forward substitution on e_j
        for i in range(d):
            whitener[j, i] = 0.0
        whitener[j, j] = 1.0 / lower[j, j]
        for i in range(j + 1, d):
            entry = 0.0
            for k in range(j, i):
                entry -= lower[i, k] * whitener[j, k]
            whitener[j, i] = entry / lower[i, i]
    return True


@part
def log_det(whitener: FloatArray) -> float:
    """ln det M = -2 sum ln W_ii."""
    total = 0.0
    for i in range(whitener.shape[0]):
        total -= 2.0 * math.log(whitener[i, i])
    return total


@part
def update_whitener(whitener: FloatArray, whitened: FloatArray, weight: float) -> None:
    """The whitener of M + w x x', given p = W x.

    M + w x x' = L (I + w p p') L', and I + w p p' = C C' with t_i = 1 + w sum_{k<=i} p_k^2,
    C_ii = sqrt(t_i / t_{i-1}), C_ij = w p_i p_j / sqrt(t_j t_{j-1}) for i > j: so W <- C^-1 W, by
    forward substitution in O(1) an entry (Gill, Golub, Murray, Saunders 1974).

    Each row is a recurrence along its entries; all rows go from entry to entry side by side.
    """
    update_whitener_within(whitener, whitened, weight, np.empty(whitened.shape[0]))


@part
def update_whitener_within(
    whitener: FloatArray, whitened: FloatArray, weight: float, carries: FloatArray
) -> None:
    """`update_whitener` with room `carries` (d): memory costs more than a small update."""
    before = 1.0
    for i in range(whitened.shape[0]):
        scale = weight * whitened[i]
        after = before + scale * whitened[i]
        diagonal = math.sqrt(before / after)
        carry = whitened[i] / math.sqrt(before * after)
        before = after
        carries[i] = 0.0
        for j in range(i + 1):
            entry = (whitener[j, i] - scale * carries[j]) * diagonal
            carries[j] += carry * entry
            whitener[j, i] = entry


@part
def rank_one(
    precision: FloatArray, whitener: FloatArray, x: FloatArray, weight: float, whitened: FloatArray
) -> float:
    """M <- M + w x x' and its whitener; returns w x'M^-1 x and leaves p = W x (both before).

    A negative weight needs 1 + w x'M^-1 x > 0.
    """
    growth = weight * whiten(whitener, x, whitened)
    update_whitener(whitener, whitened, weight)
    add_outer(precision, x, weight)
    return growth


@part
def add_outer(precision: FloatArray, x: FloatArray, weight: float) -> None:
    """M <- M + w x x'."""
    for j in range(x.shape[0]):
        scale = weight * x[j]
        for i in range(x.shape[0]):
            precision[j, i] += scale * x[i]


@part
def rank_one_inverse(inverse: FloatArray, x: FloatArray, direction: FloatArray) -> float:
    """M^-1 <- (M + x x')^-1 by Sherman and Morrison, given direction = M^-1 x; returns x'M^-1 x.

    Cheaper than a whitener and less accurate (see the decisions page): for estimates only, never
    for a width.
    """
    d = x.shape[0]
    growth = dot(x, direction)
    scale = 1.0 / (1.0 + growth)
    for j in range(d):
        row = scale * direction[j]
        for i in range(d):
            inverse[j, i] -= row * direction[i]
    return growth


@inlined
def means_and_widths(
    X: FloatArray, center: FloatArray, whitener: FloatArray, radius: float
) -> tuple[FloatArray, FloatArray]:
    """<x, c> and beta |x|_{M^-1} for the rows of X: the interval is their difference and sum."""
    means, widths = means_and_squares(X, center, whitener)
    for k in range(widths.shape[0]):
        widths[k] = radius * math.sqrt(widths[k])
    return means, widths


@part
def means_and_squares(
    X: FloatArray, center: FloatArray, whitener: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """<x, c> and x' M^-1 x for the rows of X.

    Each row's sums have the order of `dot` and `whiten`: the same bits alone and among others.
    """
    n, d = X.shape
    means, squares = np.empty(n), np.empty(n)
    if n < SIDE_BY_SIDE:
        _one_by_one(X, center, whitener, means, squares, np.empty(d))
    else:
        room = np.empty((d + 2, min(n, BLOCK)))
        for start in range(0, n, BLOCK):
            block = slice(start, min(start + BLOCK, n))
            _side_by_side(X[block], center, whitener, means[block], squares[block], room)
    return means, squares


@part
def _one_by_one(
    X: FloatArray,
    center: FloatArray,
    whitener: FloatArray,
    means: FloatArray,
    squares: FloatArray,
    room: FloatArray,
) -> None:
    X, whitened = lent(X), lent(room)
    for k in range(X.shape[0]):
        means[k] = dot(X[k], center)
        squares[k] = whiten(whitener, X[k], whitened)


@part
def _side_by_side(
    X: FloatArray,
    center: FloatArray,
    whitener: FloatArray,
    means: FloatArray,
    squares: FloatArray,
    room: FloatArray,
) -> None:
    """<x, c> and |W x|^2 for many rows x at once: the innermost loops run over the rows.

    Two entries of every W x, and four terms of each, for one look at the columns of X: else memory
    decides. Each sum keeps its order.
    """
    (n, d), columns = X.shape, lent(room)
    X, means, squares = lent(X), lent(means), lent(squares)
    for k in range(n):
        for j in range(d):
            columns[j, k] = X[k, j]
        means[k] = squares[k] = 0.0
    entry, following = columns[d], columns[d + 1]  # entries i and i + 1 of every W x
    for i in range(0, d, 2):
        for k in range(n):
            entry[k] = following[k] = 0.0
        if i + 1 == d:  # alone
            for j in range(d):
                v0 = whitener[j, i]
                for k in range(n):
                    entry[k] += v0 * columns[j, k]
        else:
            j = 0
            while j + 4 <= i + 1:
                v0, w0 = whitener[j, i], whitener[j, i + 1]
                v1, w1 = whitener[j + 1, i], whitener[j + 1, i + 1]
                v2, w2 = whitener[j + 2, i], whitener[j + 2, i + 1]
                v3, w3 = whitener[j + 3, i], whitener[j + 3, i + 1]
                for k in range(n):
                    x0, x1 = columns[j, k], columns[j + 1, k]
                    x2, x3 = columns[j + 2, k], columns[j + 3, k]
                    entry[k] = (((entry[k] + v0 * x0) + v1 * x1) + v2 * x2) + v3 * x3
                    following[k] = (((following[k] + w0 * x0) + w1 * x1) + w2 * x2) + w3 * x3
                j += 4
            while j <= i + 1:  # W is triangular: the last term of `entry` is 0
                v0, w0 = whitener[j, i], whitener[j, i + 1]
                for k in range(n):
                    entry[k] += v0 * columns[j, k]
                    following[k] += w0 * columns[j, k]
                j += 1
        for k in range(n):
            squares[k] = (squares[k] + entry[k] * entry[k]) + following[k] * following[k]
        for j in range(i, min(i + 2, d)):
            c = center[j]
            for k in range(n):
                means[k] += c * columns[j, k]


@part
def due_for_refactorisation(count: float, dim: int) -> bool:
    """Every max(512, d) updates, and at powers of two from max(64, d) on: O(d^2) amortised."""
    n = int(count)
    return n % max(REFACTORISE_EVERY, dim) == 0 or (n >= max(64, dim) and n & (n - 1) == 0)

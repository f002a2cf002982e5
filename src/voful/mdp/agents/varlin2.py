"""VARLin2: VARLin's printed set with coarser levels and a smaller price."""

from __future__ import annotations

from typing import ClassVar

from voful.mdp.agents.varlin import VARLin


class VARLin2(VARLin):
    """VARLin2 [1]: VARLin with other layers, levels and price; regret O~(d sqrt(K) + d^2).

    For moments m = 0..ceil(log2(H K)), layers i and levels l = 1..L, L = floor(log2(H K)) + 1, and
    test directions mu in the L1 ball of radius 2, the set is what passes

        |sum over T^{m,i} of clip_l(x^m mu) (theta x^m - y^m)|
            <= 4 sqrt(sum over T^{m,i} of clip_l(x^m mu)^2 eta^m iota) + 4 2^-l iota,

    clip_l to [-2^-l, 2^-l], T^{m,i} the steps with eta^m in (2^-i, 2^(1-i)] (the last layer: all
    smaller ones too). Everything else is `VARLin`: inputs, variance bounds, optimistic plans.

    Quoted from memory of [1], not from its text: the inequality, L and the L1 balls (theta in that
    of radius 1, which is the simplex for probability kernels). The bound on regret is that of its
    abstract, for the set with all mu; regret of the computable set is measured, not proved.

    Differs from the paper: (1) iota is this library's, O(d ln(H K / delta)) as in the paper, whose
    constant is not known here; it is proved valid for all mu at all times (`varlin2_iota`, by
    Freedman's inequality on a grid of slopes and a net), and with it theta* stays in the set with
    probability 1 - failure_prob. (2) The moments are those of VARLin, and smaller variances than
    2^-L join the last layer. (3) As for VARLin: blocks of value rows, a few mu and the 16 largest
    levels where `directions` are not given; the set is frozen for the episodes of a plan, not
    for each.

    References
    ----------
    [1] Kim, Yang, Jun. Improved regret analysis for variance-adaptive linear bandits and
        horizon-free linear mixture MDPs. NeurIPS 2022.
    """

    _layering: ClassVar[str] = "varlin2"

    constants = "paper"

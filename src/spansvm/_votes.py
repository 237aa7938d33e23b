"""One-vs-one votes for single rows, computing no more pairs than decide them."""

from __future__ import annotations

import numpy as np

from ._compile import njit

__all__ = ["count_votes"]


@njit
def count_votes(K, rows, classes, own, columns, pair_of, starts, places, signed, intercepts):
    """The class that wins the most pairs, for each of some rows; ties go to the first.

    A class is given up as soon as it has lost too many pairs to overtake the best so far, so that
    most pairs are never computed.

    Parameters
    ----------
    K, rows : ndarray
        Kernel values with the training rows, and the rows of it in question.
    classes : ndarray of int
        The class of each row in question.
    own : ndarray of shape (n_rows, k - 1)
        Its values in the pairs of its class.
    columns : ndarray of shape (k, k - 1)
        The pairs of every class.
    pair_of : ndarray of shape (k, k)
        The pair of two classes.
    starts, places, signed, intercepts
        The rows of the pairs, one pair after the other: where each begins, their places in K,
        their signed multipliers; and the intercepts.
    """
    k, n_pairs = columns.shape[0], intercepts.size
    # The support vectors of every pair, without the other rows.
    first, place, weight = np.empty(n_pairs + 1, np.int64), np.empty_like(places), signed.copy()
    count = 0
    for p in range(n_pairs):
        first[p] = count
        for q in range(starts[p], starts[p + 1]):
            if signed[q] != 0.0:
                place[count], weight[count] = places[q], signed[q]
                count += 1
    first[n_pairs] = count
    result = np.empty(rows.size, np.int64)
    winner = np.empty(n_pairs, np.int64)
    for r in range(rows.size):
        row, best = K[rows[r]], classes[r]
        for p in range(n_pairs):
            winner[p] = -1
        votes = 0
        for a in range(k - 1):
            # The other class of the pair is at a, or after the row's own at a + 1.
            other = a if a < best else a + 1
            second = own[r, a] >= 0.0
            winner[columns[best, a]] = max(best, other) if second else min(best, other)
            votes += winner[columns[best, a]] == best
        for challenger in range(k):
            if challenger == classes[r]:
                continue
            # With as many votes, the first of two classes wins.
            may_lose = k - 1 - votes - int(challenger > best)
            lost = 0
            for turn in range(k + 1):
                # First against the best, who is most likely to win.
                other = best if turn == 0 else turn - 1
                if other == challenger or (turn > 0 and other == best):
                    continue
                p = pair_of[challenger, other]
                if winner[p] < 0:
                    value = intercepts[p]
                    for q in range(first[p], first[p + 1]):
                        value += weight[q] * row[place[q]]
                    winner[p] = max(challenger, other) if value >= 0.0 else min(challenger, other)
                lost += winner[p] != challenger
                if lost > may_lose:
                    break
            if lost <= may_lose:
                best, votes = challenger, k - 1 - lost
        result[r] = best
    return result

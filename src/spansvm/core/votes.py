"""One-vs-one votes for single rows, computing no more pairs than decide them."""

import cython
import numpy as np
from cython.cimports.spansvm.core.loops import weighted_entries
from cython.cimports.spansvm.core.scratch import Scratch, indices, open_scratch, release_all
from cython.cimports.spansvm.core.solver import point_to
from cython.cimports.spansvm.core.system import check_points

__all__ = ["Votes"]


def begin_row(p, r):
    """Begin to count the votes on another row."""
    for pair in range(p.n_pairs):
        r.winner[pair] = -1


def elect(p, r):
    """The class that wins the most pairs; ties go to the first.

    A class is given up as soon as it has lost too many pairs to overtake the best so far, so that
    most pairs are never computed.
    """
    k, best = p.n_classes, r.own
    votes: cython.Py_ssize_t = 0
    r.rival = best
    for a in range(k - 1):
        # The other class of the pair is at a, or after the row's own at a + 1.
        other = a if a < best else a + 1
        wins = max(best, other) if r.values[a] >= 0.0 else min(best, other)
        r.winner[p.columns[best * (k - 1) + a]] = wins
        if wins == best:
            votes += 1
        else:
            r.rival = wins
    for challenger in range(k):
        if challenger == r.own:
            continue
        # With as many votes, the first of two classes wins.
        may_lose = k - 1 - votes
        if challenger > best:
            may_lose -= 1
        lost = _lost(p, r, challenger, best, may_lose)
        if lost <= may_lose:
            best, votes = challenger, k - 1 - lost
    return best


def _lost(p, r, challenger, best, may_lose):
    """How many pairs a class loses, counted until there are too many."""
    lost: cython.Py_ssize_t = 0
    for turn in range(-2, p.n_classes):
        # First against those who are most likely to win.
        other = turn if turn >= 0 else (best if turn == -2 else r.rival)
        if other == challenger or (turn > -2 and other == best):
            continue
        if turn >= 0 and other == r.rival:
            continue
        if _winner_of(p, r, challenger, other) != challenger:
            lost += 1
            if lost > may_lose:
                break
    return lost


def _winner_of(p, r, one, other):
    """Which of two classes wins the row."""
    pair = p.pair_of[one * p.n_classes + other]
    if r.winner[pair] < 0:
        start = p.starts[pair]
        value = p.intercepts[pair] + weighted_entries(
            r.K, r.row, p.places + start, p.signed + start, p.starts[pair + 1] - start
        )
        r.winner[pair] = max(one, other) if value >= 0.0 else min(one, other)
    return r.winner[pair]


class Votes:
    """The machines of all pairs of classes, which vote on the class of a row.

    Parameters
    ----------
    columns : ndarray of shape (k, k - 1)
        The pairs of every class.
    pair_of : ndarray of shape (k, k)
        The pair of two classes.
    starts, places, signed, intercepts : ndarray
        The rows of the pairs, one pair after the other: where each begins, their places in a matrix
        of kernel values, their signed multipliers; and the intercepts.
    """

    def __init__(self, columns, pair_of, starts, places, signed, intercepts):
        # The support vectors of every pair, without the other rows.
        support = np.flatnonzero(signed)
        first: cython.Py_ssize_t[::1] = np.searchsorted(support, starts)
        place: cython.Py_ssize_t[::1] = _indices(places)[support]
        weight: cython.double[::1] = signed[support]
        pairs_of: cython.Py_ssize_t[:, ::1] = _indices(columns)
        pair: cython.Py_ssize_t[:, ::1] = _indices(pair_of)
        level: cython.double[::1] = np.ascontiguousarray(intercepts, dtype=np.float64)
        k, n_pairs = pair.shape[0], level.shape[0]
        if not (
            pair.shape[1] == k and pairs_of.shape[0] == k and pairs_of.shape[1] == k - 1
            and first.shape[0] == n_pairs + 1 and n_pairs == k * (k - 1) // 2
            and signed.shape == places.shape
        ):  # fmt: skip
            raise ValueError("The arrays must be those of all pairs of classes.")
        self._arrays = (first, place, weight, pairs_of, pair, level)
        self._given = (columns, pair_of, starts, places, signed, intercepts)
        p = cython.address(self._pairs)
        p.n_classes, p.n_pairs = k, n_pairs
        p.columns, p.pair_of = cython.address(pairs_of[0, 0]), cython.address(pair[0, 0])
        p.starts, p.intercepts = cython.address(first[0]), cython.address(level[0])
        p.places = p.signed = cython.NULL
        if support.size:
            p.places, p.signed = cython.address(place[0]), cython.address(weight[0])

    def __reduce__(self):
        return Votes, self._given

    def count(self, K, rows, classes, own):
        """The class that wins the most pairs, for each of some rows; ties go to the first.

        Parameters
        ----------
        K, rows : ndarray
            Kernel values with the training rows, and the rows of it in question.
        classes : ndarray of int
            The class of each row in question.
        own : ndarray of shape (n_rows, k - 1)
            Its values in the pairs of its class.
        """
        r: Row
        matrix: Matrix
        scratch: Scratch
        places: cython.Py_ssize_t[::1] = _indices(rows)
        given: cython.Py_ssize_t[::1] = _indices(classes)
        values: cython.double[:, ::1] = np.ascontiguousarray(own, dtype=np.float64)
        count = places.shape[0]
        result = np.empty(count, dtype=np.intp)
        found: cython.Py_ssize_t[::1] = result
        if count == 0:
            return result
        k = self._pairs.n_classes
        if given.shape[0] != count or values.shape[0] != count or values.shape[1] != k - 1:
            raise ValueError("There must be a class, and k - 1 values, for every row.")
        check_points(cython.address(places[0]), count, K.shape[0])
        check_points(cython.address(given[0]), count, k)
        point_to(cython.address(matrix), K)
        r.K = cython.address(matrix)
        open_scratch(cython.address(scratch))
        try:
            with cython.nogil:
                r.winner = indices(cython.address(scratch), self._pairs.n_pairs)
                for i in range(count):
                    r.row, r.own, r.values = places[i], given[i], cython.address(values[i, 0])
                    begin_row(cython.address(self._pairs), cython.address(r))
                    found[i] = elect(cython.address(self._pairs), cython.address(r))
        finally:
            release_all(cython.address(scratch))
        return result


def _indices(values):
    return np.ascontiguousarray(values, dtype=np.intp)

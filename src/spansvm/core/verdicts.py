"""Which doubtful values of pairs of classes decide the class that is predicted for a left-out row.

A row is left out of the machines of the k - 1 pairs of its class.  It is counted with all its
doubtful values won, and with all lost: if both give the same class, none of them matters.
"""

import cython
import numpy as np
from cython.cimports.spansvm.core.scratch import doubles, flags, indices
from cython.cimports.spansvm.core.system import check_points
from cython.cimports.spansvm.core.votes import begin_row, elect

__all__ = ["Ballots"]


def open_verdicts(v, K, alpha, intercepts, starts, scratch):
    """Gather the support vectors of all pairs; `v` is a copy of that of :class:`Ballots`."""
    p, r = cython.address(v.pairs), cython.address(v.row)
    places, signed = indices(scratch, v.total), doubles(scratch, v.total)
    first = indices(scratch, p.n_pairs + 1)
    count: cython.Py_ssize_t = 0
    for pair in range(p.n_pairs):
        first[pair] = count
        for e in range(starts[pair], starts[pair + 1]):
            if alpha[e] != 0.0:
                places[count], signed[count] = v.places[v.of_entry[e]], v.labels[e] * alpha[e]
                count += 1
    first[p.n_pairs] = count
    p.starts, p.places, p.signed, p.intercepts = first, places, signed, intercepts
    r.K, r.winner = K, indices(scratch, p.n_pairs)
    v.own, v.undecided = doubles(scratch, p.n_classes - 1), flags(scratch, v.n_rows)
    r.values = v.own
    for row in range(v.n_rows):
        v.undecided[row], v.predicted[row] = True, -1
    return 0


def _look_at(v, row):
    v.row.row, v.row.own = v.places[row], v.classes[row]
    begin_row(cython.address(v.pairs), cython.address(v.row))


def _outcome(v, row, sign):
    """The class of a row, with its doubtful values won or lost, or as they are if `sign` is 0."""
    width = v.pairs.n_classes - 1
    for a in range(width):
        e = v.by_row[row * width + a]
        v.own[a] = sign * v.labels[e] if sign != 0.0 and v.doubtful[e] else v.values[e]
    return elect(cython.address(v.pairs), cython.address(v.row))


def find_deciding(v, entries):
    """Fill `entries` with the doubtful values that matter, in order; returns their number.

    Called again once some of them are known, it looks only at rows that were undecided.
    """
    width = v.pairs.n_classes - 1
    for row in range(v.n_rows):
        if not v.undecided[row]:
            continue
        count: cython.Py_ssize_t = 0
        for a in range(width):
            if v.doubtful[v.by_row[row * width + a]]:
                count += 1
        v.undecided[row] = count > 0
        if count > 0:
            _look_at(v, row)
            won, lost = _outcome(v, row, 1.0), _outcome(v, row, -1.0)
            v.undecided[row] = won != lost
            if count == 1 and won == lost:
                v.predicted[row] = won
    count = 0
    for e in range(v.total):
        if v.doubtful[e] and v.undecided[v.of_entry[e]]:
            entries[count] = e
            count += 1
    return count


def smallest_of_each(v, entries, count, first, best):
    """Of the values of each row among `entries`, that with the smallest margin; their number.

    `best` is room for a number for every row.
    """
    number: cython.Py_ssize_t = 0
    for row in range(v.n_rows):
        best[row] = -1
    for k in range(count):
        e = entries[k]
        known = best[v.of_entry[e]]
        if known < 0 or v.labels[e] * v.values[e] < v.labels[known] * v.values[known]:
            best[v.of_entry[e]] = e
    for k in range(count):
        if best[v.of_entry[entries[k]]] == entries[k]:
            first[number] = entries[k]
            number += 1
    return number


def predict_classes(v):
    """The class of every row; one that wins all its pairs cannot be outvoted."""
    contested: cython.bint
    width = v.pairs.n_classes - 1
    for row in range(v.n_rows):
        if v.predicted[row] >= 0:
            continue
        v.predicted[row], contested = v.classes[row], False
        for a in range(width):
            e = v.by_row[row * width + a]
            contested = contested or v.labels[e] * v.values[e] <= 0.0
        if contested:
            _look_at(v, row)
            v.predicted[row] = _outcome(v, row, 0.0)


class Ballots:
    """The rows of all pairs of classes, one pair after the other.

    Parameters
    ----------
    columns : ndarray of shape (k, k - 1)
        The pairs of every class.
    pair_of : ndarray of shape (k, k)
        The pair of two classes.
    by_row : ndarray of shape (n, k - 1)
        For every row, where it is among the rows of all pairs.
    row : ndarray
        For each of these, which row it is.
    classes, places : ndarray of shape (n,)
        The class of every row, and its place in the matrix of kernel values.
    labels : ndarray
        Of the rows of all pairs, -1 or 1 for the second class.
    """

    def __init__(self, columns, pair_of, by_row, row, classes, places, labels):
        pairs: idx[:, ::1] = _indices(columns)
        of_two: idx[:, ::1] = _indices(pair_of)
        where: idx[:, ::1] = _indices(by_row)
        which: idx[::1] = _indices(row)
        own: idx[::1] = _indices(classes)
        stands: idx[::1] = _indices(places)
        y: cython.double[::1] = np.array(labels, dtype=np.float64)
        k, n, total = of_two.shape[0], own.shape[0], which.shape[0]
        if not (
            of_two.shape[1] == k and pairs.shape[0] == k and pairs.shape[1] == k - 1
            and where.shape[0] == n and where.shape[1] == k - 1 and total == n * (k - 1)
            and stands.shape[0] == n and y.shape[0] == total
        ):  # fmt: skip
            raise ValueError("The arrays must be those of all pairs of classes.")
        check_points(cython.address(where[0, 0]), total, total)
        check_points(cython.address(which[0]), total, n)
        check_points(cython.address(own[0]), n, k)
        self._arrays = (pairs, of_two, where, which, own, stands, y)
        v = cython.address(self._verdicts)
        v.n_rows, v.total = n, total
        v.pairs.n_classes, v.pairs.n_pairs = k, k * (k - 1) // 2
        v.pairs.columns, v.pairs.pair_of = cython.address(pairs[0, 0]), cython.address(of_two[0, 0])
        v.by_row, v.of_entry = cython.address(where[0, 0]), cython.address(which[0])
        v.classes, v.places = cython.address(own[0]), cython.address(stands[0])
        v.labels = cython.address(y[0])


def _indices(values):
    return np.array(values, dtype=np.intp)

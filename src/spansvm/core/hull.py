"""The affine hull of a set of points in feature space: distances from it.

With ``K_II = L L'`` the Gram matrix of the points that make the hull (see
:mod:`spansvm.core.factor`), ``u = K_II^-1 1`` and ``s = sum(u)``, the squared distance of a point p
from the hull of the others is

    p among them:  1 / ((K_II^-1)_pp - u_p^2 / s)
    p elsewhere:   K_pp - |L^-1 k_p|^2 + (1 - u'k_p)^2 / s,   k_p = K[I, p]

A ridge on ``K_II`` increases every squared distance by ``ridge |lambda|^2`` to first order, and
that of a point among them by another ``ridge``; both are subtracted again.
"""

import cython
from cython.cimports.libc.string import memcpy
from cython.cimports.spansvm.core.linalg import cholesky_inverse, lower_inverse, lower_solve
from cython.cimports.spansvm.core.loops import add_squares, add_vector, gather
from cython.cimports.spansvm.core.scratch import doubles, release


def fill_distances(p, f, others, count, squared):
    """Fill `squared` with squared distances from the hull of a factor's points.

    It is filled for `others` and for the points of the factor, each measured from the rest.  Of the
    problem only the matrix and its diagonal are needed.
    """
    n, m, width, scratch = f.n_kept, count, count + 1, p.scratch
    mark = scratch.count
    farthest = 0.0  # a limit on rounding: no two points are farther apart than twice the longest
    for a in range(f.n_inside):
        farthest = max(farthest, 4.0 * p.diag[f.inside[a]])
    known: Solved
    columns, length, along = doubles(scratch, n * width), doubles(scratch, m), doubles(scratch, m)
    known.columns, known.along, known.u = columns, along, doubles(scratch, n)
    inverse, own_length = doubles(scratch, n * n), doubles(scratch, n)
    for a in range(n):
        gather(cython.address(p.K), f.kept[a], others, m, f.shift, columns + a * width)
        columns[a * width + m] = 1.0
    lower_solve(f.matrix, n, columns, width, False)
    for k in range(m):
        length[k] = along[k] = 0.0
    known.s = 0.0
    for a in range(n):
        column = columns + a * width
        own = column[m]
        known.s += own * own
        add_squares(length, column, m)
        add_vector(along, own, column, m)
        memcpy(inverse + a * n, f.matrix + a * n, (a + 1) * cython.sizeof(cython.double))
    for k in range(m):
        i, offset = others[k], 1.0 - along[k]
        squared[i] = max(p.diag[i] + f.shift - length[k] + offset * offset / known.s, 0.0)
    lower_inverse(inverse, n, n)
    for a in range(n):
        own_length[a] = known.u[a] = 0.0
    for a in range(n):
        row, own = inverse + a * n, columns[a * width + m]
        add_squares(own_length, row, a + 1)
        add_vector(known.u, own, row, a + 1)
    for a in range(n):
        own = own_length[a] - known.u[a] * known.u[a] / known.s
        squared[f.kept[a]] = 1.0 / max(own, 1.0 / farthest)
    if f.ridge > 0.0:
        _subtract_ridge(p, f, others, count, cython.address(known), squared)
    for a in range(f.n_inside):
        if f.repeated[a]:
            squared[f.inside[a]] = 0.0
    release(scratch, mark)
    return 0


def _subtract_ridge(p, f, others, count, known, squared):
    """Subtract what the ridge has added; the columns are overwritten."""
    n, m, width, columns, s = f.n_kept, count, count + 1, known.columns, known.s
    mark = p.scratch.count
    added, projected = doubles(p.scratch, m), doubles(p.scratch, n * n)
    for a in range(n):
        column = columns + a * width
        own = column[m]
        for k in range(m):
            column[k] += own * (1.0 - known.along[k]) / s
    lower_solve(f.matrix, n, columns, width, True)  # now the weights of the others in the hull
    for k in range(m):
        added[k] = 0.0
    for a in range(n):
        column = columns + a * width
        add_squares(added, column, m)
    for k in range(m):
        squared[others[k]] = max(squared[others[k]] - f.ridge * added[k], 0.0)
    # A row of the projected inverse, divided by its own entry, holds the weights (and -1).
    for a in range(n * n):
        projected[a] = f.matrix[a]
    cholesky_inverse(projected, n)
    for a in range(n):
        row, own, i = projected + a * n, 0.0, f.kept[a]
        for b in range(n):
            value = row[b] - known.u[a] * known.u[b] / s
            own += value * value
        squared[i] = max(squared[i] - f.ridge * own * squared[i] * squared[i], 0.0)
    release(p.scratch, mark)
    return 0

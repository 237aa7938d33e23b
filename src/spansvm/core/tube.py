"""The tube of a regression: which side of it every row of a machine is on.

Training minimises ``1/2 b'Kb - target'b + epsilon sum |b_i|`` over ``sum(b) = 0, |b_i| <= C_i``.
A row whose target is above the function has a multiplier from 0 to ``C_i`` and, on the edge of the
tube, the value ``target_i - epsilon``; one below has a multiplier from ``-C_i`` to 0 and the edge
``target_i + epsilon``.  So with the side as its label and the edge in the place of the margin, a
regression is trained, and its rows are left out, as those of a classifier; only that a row whose
multiplier is 0 may cross to the other side (:func:`spansvm.core.problem.cross`).

Without a tube (``epsilon = 0``) nothing has to be crossed: multipliers are between ``-C_i`` and
``C_i``.
"""

import cython
from cython.cimports.libc.math import INFINITY
from cython.cimports.spansvm.core.scratch import doubles, release


def set_tube(m, C, epsilon):
    """Set boxes and edges for the weights `C`, with every row on the side where it is now."""
    p = cython.address(m.p)
    mark = p.scratch.count
    bound = doubles(p.scratch, p.n)
    for i in range(p.n):
        bound[i] = 0.0
    for i in range(p.n):
        bound[m.first[i]] += C[i]
    for i in range(p.n):
        q = m.first[i]
        if q != i:
            side = m.side[q]
        elif p.x[q] != 0.0:
            side = 1.0 if p.x[q] > 0.0 else -1.0
        else:
            side = 1.0 if m.target[i] >= p.g[i] + m.edge[i] + m.intercept else -1.0
        edge = m.target[i] - side * epsilon
        p.g[i] += m.edge[i] - edge
        m.side[i], m.edge[i] = side, edge
        m.lo[i] = -bound[i] if side < 0.0 or epsilon == 0.0 else 0.0
        m.hi[i] = bound[i] if side > 0.0 or epsilon == 0.0 else 0.0
    p.tube = 2.0 * epsilon if epsilon > 0.0 else INFINITY
    m.epsilon = epsilon
    release(p.scratch, mark)
    return 0


def note_sides(m):
    """Note the sides that rows have crossed to; equal rows follow the first of them."""
    p = cython.address(m.p)
    for i in range(p.n):
        q = m.first[i]
        side = m.side[q]
        if p.x[q] != 0.0:
            side = 1.0 if p.x[q] > 0.0 else -1.0
        elif m.epsilon > 0.0 and m.lo[q] < m.hi[q]:
            side = 1.0 if m.hi[q] > 0.0 else -1.0
        edge = m.target[i] - side * m.epsilon
        if q != i:  # it has not crossed by itself
            p.g[i] += m.edge[i] - edge
        m.side[i], m.edge[i] = side, edge


def edges_of(m, found, edges):
    """Set the edges of the rows of a solution that was found before; from the scratch."""
    n = m.p.n
    own = doubles(m.p.scratch, n)
    for i in range(n):
        own[i] = m.target[i] - found.side[i] * found.epsilon[0]
    edges[0] = own
    return 0

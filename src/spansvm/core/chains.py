"""Machines of all pairs of classes, each trained along a chain of weights, in one call.

A pair of classes has some dozens or hundreds of rows; what Python does for each would cost more
than its training.  The rows of all machines stand one after the other in the arrays of this
module.  A machine that has to be trained in another way is left at that vector of weights, and
marked as not done: the caller trains it by itself.
"""

import cython
import numpy as np
from cython.cimports.libc.math import INFINITY
from cython.cimports.libc.stdlib import calloc, free, malloc
from cython.cimports.libc.string import memset
from cython.cimports.spansvm.core.factor import discard
from cython.cimports.spansvm.core.inverse import drop_inverse, make_room
from cython.cimports.spansvm.core.loops import copy_block
from cython.cimports.spansvm.core.machine import leave_out, train
from cython.cimports.spansvm.core.scratch import doubles, indices, open_scratch, release_all
from cython.cimports.spansvm.core.solver import point_to
from cython.cimports.spansvm.core.verdicts import (
    find_deciding,
    open_verdicts,
    predict_classes,
    smallest_of_each,
)
from cython.cimports.spansvm.core.verifying import clear_traces, find_doubt, remove_rows

__all__ = ["Chains"]

#: A second round pays if more than this many removals for each pair may be saved.
SECOND_ROUND = 4


@cython.cclass
class Chains:
    """Machines on parts of one Gram matrix, each standing at its latest solution.

    Parameters
    ----------
    K : ndarray of shape (l, l)
    diagonal : ndarray
        Of the rows of all machines, one after the other, as the following ones.
    places : ndarray of int
        Their places in the matrix.
    labels : ndarray
    first : ndarray of int
        Within its machine, the first row that is equal to each, with the same label.
    starts : ndarray of int
        Where the rows of each machine begin, and the end.
    flat : ndarray
        For each machine, the curvature below which a pair of variables counts as flat.
    limits : ndarray of int
        For each machine, the largest number of iterations.

    Attributes
    ----------
    signed, gradient, low, high, squared : ndarray
        Signed multipliers, gradients, boxes and squared spans, merged at the first of equal rows.
    drift : ndarray
        For each machine, the rounding that its gradient may carry.
    edges : ndarray
        Of regressions, the edges of their tubes that `gradient` is relative to.
    """

    def __init__(self, K, diagonal, places, labels, first, starts, flat, limits):
        total, count = places.size, limits.size
        state = np.zeros((10, total))
        self.signed, self.gradient, self.low, self.high, self.squared = state[:5]
        self.gradient[:] = -labels
        bounded, ready = np.zeros((3, total), np.uint8), np.zeros(count, np.uint8)
        sums, scales, self.drift = np.zeros(4 * total), np.zeros(2 * count), np.zeros(count)
        held = (
            K, np.ascontiguousarray(diagonal), np.ascontiguousarray(places),
            np.ascontiguousarray(labels), np.ascontiguousarray(first),
            np.ascontiguousarray(starts), state, bounded, ready, sums, scales, self.drift,
        )  # fmt: skip
        self._held = held
        diag: cython.const[cython.double][::1] = held[1]
        rows: cython.const[idx][::1] = held[2]
        y: cython.const[cython.double][::1] = held[3]
        firsts: cython.const[idx][::1] = held[4]
        begin: cython.const[idx][::1] = held[5]
        own: cython.double[:, ::1] = state
        marks: cython.uchar[:, ::1] = bounded
        stands: cython.uchar[::1] = ready
        carried: cython.double[::1] = sums
        scale: cython.double[::1] = scales
        drift: cython.double[::1] = self.drift
        flats: cython.const[cython.double][::1] = np.ascontiguousarray(flat)
        most: cython.const[idx][::1] = np.ascontiguousarray(limits)
        point_to(cython.address(self.K), K)
        self.count = count
        self.machines = cython.cast(
            cython.pointer(Machine), calloc(max(count, 1), cython.sizeof(Machine))
        )
        if not self.machines:
            raise MemoryError
        self.places, self.starts = cython.address(rows[0]), cython.address(begin[0])
        for k in range(self.count):
            m = self.machines + k
            one, n = begin[k], begin[k + 1] - begin[k]
            m.p.n, m.p.flat, m.max_iter = n, flats[k], most[k]
            m.p.diag = cython.address(diag[one])
            m.p.x, m.p.g = cython.address(own[0, one]), cython.address(own[1, one])
            m.lo, m.hi = cython.address(own[2, one]), cython.address(own[3, one])
            m.p.lo, m.p.hi, m.squared = m.lo, m.hi, cython.address(own[4, one])
            m.y, m.first = cython.address(y[one]), cython.address(firsts[one])
            m.edge = cython.cast(cython.p_double, m.y)
            m.p.tube = INFINITY
            m.bounded, m.ready = cython.address(marks[0, one]), cython.address(stands[k])
            m.followed, m.shift = cython.address(own[5, one]), cython.address(own[6, one])
            m.known, m.present = cython.address(marks[1, one]), cython.address(marks[2, one])
            m.sums, m.last = cython.address(own[7, one]), cython.address(own[8, one])
            m.last_C = cython.address(own[9, one])
            m.carried.sums = cython.address(carried[4 * one])
            m.carried.shares = m.carried.sums + 2 * n
            m.carried.scale, m.drift = cython.address(scale[2 * k]), cython.address(drift[k])
            self.largest = max(self.largest, n)
        rows_of_all = np.arange(K.shape[0])
        self.whole = all(
            np.array_equal(places[starts[k] : starts[k + 1]], rows_of_all) for k in range(count)
        )

    def set_targets(self):
        """The labels are targets: these are regressions."""
        targets = self._held[3]
        numbers = np.ones((2, targets.size))
        numbers[1] = targets
        own: cython.double[:, ::1] = numbers
        values: cython.const[cython.double][::1] = targets
        self.edges, self._sides = numbers[1], numbers
        for k in range(self.count):
            m, one = self.machines + k, self.starts[k]
            m.target = cython.address(values[one])
            m.side, m.edge = cython.address(own[0, one]), cython.address(own[1, one])
            m.y = m.side

    def __dealloc__(self):
        if self.machines:
            for k in range(self.count):
                free(self.machines[k].part)
        free(self.machines)
        free(self.lent)

    def train(
        self, machines: cython.const[idx][::1], weights: cython.const[cython.double][:, ::1],
        wanted, results: Results, begin: idx = 0,
    ):  # fmt: skip
        """Train some machines with one vector of weights after the other, and leave each row out.

        Parameters
        ----------
        machines : ndarray of int
        weights : ndarray of shape (steps, total)
            The weights of the rows of all machines in each.
        wanted : tuple
            The tolerance; whether spans are wanted, with left-out values; whether it is wanted how
            much lower these may be; whether their signs are to be exact; whether it is wanted how
            far the values themselves may be off.
        results : Results
            To be filled.  Where a machine is not done, it is not at any later step either.
        begin : int, default=0
            The first step.
        """
        how: Wanted
        how.tol, how.spans, how.drops, how.verified, how.values = wanted
        steps, total = weights.shape[0], weights.shape[1]
        if total != results.total or self.count != results.count:
            raise ValueError("The results must have room for all rows and machines.")
        if how.values and not results.with_values:
            raise ValueError("The results must have room for values.")
        with cython.nogil:
            for k in range(machines.shape[0]):
                self.follow(
                    machines[k], cython.address(weights[0, 0]), begin, steps, cython.address(how),
                    results,
                )  # fmt: skip

    def follow(self, m, weights, begin, steps, wanted, results):
        """One machine after the other, so that its matrix stays in the cache."""
        memory: Scratch
        carry: Carry
        open_scratch(cython.address(memory))
        memset(cython.address(carry), 0, cython.sizeof(Carry))
        memory.spent = self.spent
        own = self.machines + m
        own.p.scratch, own.p.K = cython.address(memory), self.K
        try:
            if wanted.verified:
                self.lend(cython.address(memory))
            make_room(cython.address(carry.inverse), own.p.n)
            if not self.whole:
                # Removals will need it again.
                self.copy_matrix(m, wanted.drops)
            self.train_one(m, weights, begin, steps, wanted, cython.address(carry), results)
        finally:
            discard(cython.address(carry.factor))
            drop_inverse(cython.address(carry.inverse))
            self.spent = memory.spent
            release_all(cython.address(memory))
        return 0

    def lend(self, memory):
        """Lend a scratch the room for the tableau of a machine, which many need in turn."""
        room = self.largest * self.largest
        if not self.lent:
            self.lent = cython.cast(cython.p_double, malloc(room * cython.sizeof(cython.double)))
            if not self.lent:
                with cython.gil:
                    raise MemoryError
        memory.lent, memory.lent_room = self.lent, room
        return 0

    def copy_matrix(self, m, keep):
        """The machine's part of the Gram matrix, for as long as its scratch, or kept."""
        own = self.machines + m
        p = cython.address(own.p)
        size = cython.sizeof(cython.double) if self.K.wide else cython.sizeof(cython.float)
        known: cython.bint = own.part != cython.NULL
        part = own.part
        if not known and keep:
            part = own.part = malloc(max(p.n * p.n, 1) * size)
            if not part:
                with cython.gil:
                    raise MemoryError
        elif not known:
            part = doubles(p.scratch, (p.n * p.n * size + 7) // 8)
        p.K.width = p.n
        if self.K.wide:
            p.K.wide = cython.cast(cython.p_double, part)
        else:
            p.K.narrow = cython.cast(cython.p_float, part)
        if not known:
            copy_block(
                cython.address(self.K), self.places + self.starts[m], p.n, cython.address(p.K)
            )
        return 0

    def train_one(self, m, weights, begin, steps, wanted, carry, results):
        """The chain of one machine."""
        found: Found
        own, start = self.machines + m, self.starts[m]
        for step in range(begin, steps):
            results.at(step, m, start, cython.address(found))
            C = weights + step * results.total + start
            if not train(own, C, wanted, carry, cython.address(found)):
                return 0
            leave_out(own, C, cython.address(found))
            if wanted.drops or wanted.values:
                find_doubt(own, C, wanted, carry, cython.address(found))
            results.set_done(step, m)
        return 0

    def remove(
        self, entries: cython.const[idx][::1], weights: cython.const[cython.double][::1],
        results: Results, step: idx,
    ):  # fmt: skip
        """Values of some rows, each from its machine without it, at one vector of weights.

        Parameters
        ----------
        entries : ndarray of int
            Rows among those of all machines, in order.
        weights : ndarray of shape (total,)
        results : Results
            Those of training.
        step : int

        Returns
        -------
        decision, shift : ndarray
            The values, NaN where they could not be followed; the mean change of all others, NaN
            where that was tried in vain.
        error : float
            The largest distance of a free vector from its margin at the end of a path.
        """
        count = entries.shape[0]
        found = np.full((2, count), np.nan)
        values: cython.double[:, ::1] = found
        followed: Followed
        error = 0.0
        if count == 0:
            return found[0], found[1], error
        if entries[0] < 0 or entries[count - 1] >= results.total:
            raise ValueError("The rows must be those of the machines, in order.")
        rows = cython.address(entries[0])
        begin: cython.Py_ssize_t = 0
        with cython.nogil:
            for m in range(self.count):
                end = begin
                while end < count and rows[end] < self.starts[m + 1]:
                    end += 1
                if end > begin:
                    followed.decision = cython.address(values[0, begin])
                    followed.shift = cython.address(values[1, begin])
                    self.remove_from(
                        m, rows + begin, end - begin, cython.address(weights[0]), results, step,
                        cython.address(followed),
                    )  # fmt: skip
                    error = max(error, followed.error)
                begin = end
        return found[0], found[1], error

    def remove_from(self, m, entries, count, weights, results, step, followed):
        """Remove rows of one machine."""
        memory: Scratch
        found: Found
        start, own = self.starts[m], self.machines + m
        open_scratch(cython.address(memory))
        memory.spent = self.spent
        own.p.scratch, own.p.K = cython.address(memory), self.K
        try:
            self.lend(cython.address(memory))
            if not self.whole:
                self.copy_matrix(m, True)
            rows = indices(cython.address(memory), count)
            for k in range(count):
                rows[k] = entries[k] - start
            results.at(step, m, start, cython.address(found))
            remove_rows(own, weights + start, cython.address(found), rows, count, followed)
        finally:
            self.spent = memory.spent
            release_all(cython.address(memory))
        return 0

    def verify(
        self, ballots: Ballots, weights: cython.const[cython.double][:, ::1], results: Results,
        steps: cython.const[idx][::1],
    ):  # fmt: skip
        """Follow the doubtful left-out values of all pairs on which predicted classes depend.

        They are set in the results; only those that cannot be followed here stay doubtful.

        Parameters
        ----------
        ballots : Ballots
        weights : ndarray of shape (n, total)
        results : Results
            Those of training.
        steps : ndarray of int
            Which vectors of weights.

        Returns
        -------
        ndarray of int of shape (n, n_rows)
            The class that is predicted for each left-out row.
        """
        count = weights.shape[0]
        winner = np.zeros((count, ballots._verdicts.n_rows), np.intp)
        predicted: idx[:, ::1] = winner
        if weights.shape[1] != results.total or ballots._verdicts.total != results.total:
            raise ValueError("The results must be those of the rows of all pairs.")
        for k in range(steps.shape[0]):
            if not 0 <= steps[k] < count:
                raise ValueError("There must be weights for every step.")
        with cython.nogil:
            for k in range(steps.shape[0]):
                step = steps[k]
                self.verify_at(
                    cython.address(ballots._verdicts), step, cython.address(weights[step, 0]),
                    results, cython.address(predicted[step, 0]),
                )  # fmt: skip
        return winner

    def verify_at(self, ballots, step, weights, results, predicted):
        """The same at one vector of weights."""
        memory: Scratch
        found: Found
        v: Verdicts = ballots[0]
        scratch = cython.address(memory)
        open_scratch(scratch)
        try:
            results.at(step, 0, 0, cython.address(found))
            v.values, v.doubtful, v.predicted = found.verified, found.doubtful, predicted
            open_verdicts(
                cython.address(v), cython.address(self.K), found.alpha, found.intercept,
                self.starts, scratch,
            )  # fmt: skip
            entries, first = indices(scratch, v.total), indices(scratch, v.total)
            count = find_deciding(cython.address(v), entries)
            number = smallest_of_each(
                cython.address(v), entries, count, first, indices(scratch, v.n_rows)
            )
            # One pair may be enough: that with the smallest margin.
            if count > number + SECOND_ROUND * self.count:
                self.remove_several(first, number, weights, results, step)
                count = find_deciding(cython.address(v), entries)
            self.remove_several(entries, count, weights, results, step)
            for e in range(v.total):
                if not v.undecided[v.of_entry[e]]:
                    found.doubtful[e] = False
            predict_classes(cython.address(v))
        finally:
            release_all(scratch)
        return 0

    def remove_several(self, entries, count, weights, results, step):
        """Remove rows of all machines, which are in order, and set what is found."""
        memory: Scratch
        followed: Followed
        found: Found
        begin: cython.Py_ssize_t = 0
        open_scratch(cython.address(memory))
        followed.decision = doubles(cython.address(memory), count)
        followed.shift = doubles(cython.address(memory), count)
        try:
            for m in range(self.count):
                end, start = begin, self.starts[m]
                while end < count and entries[end] < self.starts[m + 1]:
                    end += 1
                if end == begin:
                    continue
                self.remove_from(
                    m, entries + begin, end - begin, weights, results, step,
                    cython.address(followed),
                )  # fmt: skip
                results.at(step, m, start, cython.address(found))
                found.error[0] = max(found.error[0], followed.error)
                for k in range(end - begin):
                    i, value = entries[begin + k] - start, followed.decision[k]
                    found.shift[i] = followed.shift[k]
                    if value == value:
                        found.verified[i] = value
                        found.doubtful[i], found.followed[i] = False, True
                clear_traces(found.verified, self.machines[m].p.n)
                begin = end
        finally:
            release_all(cython.address(memory))
        return 0

    def take(self, m: idx, signed, gradient, measures, converged):
        """Stand at a solution that was found in another way; at the beginning if it is none.

        `measures` are its intercept and its gap.  Of a regression, the gradient is that without a
        tube.
        """
        part = slice(self.starts[m], self.starts[m + 1])
        self.signed[part], self.gradient[part] = signed, gradient
        own = self.machines + m
        own.drift[0] = own.carried.scale[0] = own.carried.scale[1] = 0.0
        own.ready[0] = False
        own.intercept, own.gap = measures
        if own.target:
            self.edges[part] = self._held[3][part]
        if not converged:
            self.signed[part], self.gradient[part] = 0.0, -self._held[3][part]
            self.low[part] = self.high[part] = 0.0

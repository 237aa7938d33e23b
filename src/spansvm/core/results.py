"""What chains of machines find, in arrays that Python sees."""

import cython
import numpy as np

__all__ = ["Results"]


@cython.cclass
class Results:
    """What was found for each of several vectors of weights.

    Parameters
    ----------
    steps, total, count : int
        The numbers of vectors of weights, of rows of all machines, and of machines.
    with_sides : bool, default=False
        Whether these are regressions.
    with_values : bool, default=False
        Whether it is of interest how far left-out values may be off.

    Attributes
    ----------
    alpha, decision, span, left_out, drop : ndarray of shape (steps, total)
        Multipliers, decision values, squared spans, left-out values, how much lower than
        predicted the margins of these may be.
    verified, shift : ndarray of shape (steps, total)
        Left-out values, followed exactly where their signs were doubtful, and the mean change of
        all other values there.
    side : ndarray of shape (steps, total)
        Of a regression, the side of the tube that every row is on, -1 or 1.
    outside, moved : ndarray of shape (steps, total)
        If values are of interest, how far other vectors leave their boxes without each row, NaN
        where that is unknown, and the mean change of all other values.
    followed, doubtful : ndarray of bool of shape (steps, total)
        Which these are, and whose signs may be wrong even so.
    intercept, gap, error : ndarray of shape (steps, count)
        The last is the largest distance of a free vector from its margin where rows were followed.
    epsilon : ndarray of shape (steps, count)
        Half the width of the tube of a regression; to be set before it is trained.
    iterations, n_in_bound, n_bounded, n_empty, n_free : ndarray of int of shape (steps, count)
        The last is the number of different in-bound vectors, if drops were wanted.
    done : ndarray of bool of shape (steps, count)
        Which machines were trained.
    """

    def __init__(
        self, steps: idx, total: idx, count: idx, with_sides: cython.bint = False,
        with_values: cython.bint = False,
    ):  # fmt: skip
        self.total, self.count = total, count
        rows, numbers = np.zeros((7, steps, total)), np.zeros((4, steps, count))
        counts, done = np.zeros((5, steps, count), np.intp), np.zeros((steps, count), np.uint8)
        marks = np.zeros((2, steps, total), np.uint8)
        self.alpha, self.decision, self.span, self.left_out = rows[:4]
        self.drop, self.verified, self.shift = rows[4:]
        self.side = np.zeros((steps if with_sides else 1, total))
        values = np.zeros((2, steps if with_values else 1, total))
        self.outside, self.moved = values
        self.intercept, self.gap, self.error, self.epsilon = numbers
        self.iterations, self.n_in_bound, self.n_bounded, self.n_empty = counts[:4]
        self.n_free = counts[4]
        self.done = done.view(np.bool_)
        self.doubtful, self.followed = marks.view(np.bool_)
        own: cython.double[:, :, ::1] = rows
        of_machines: cython.double[:, :, ::1] = numbers
        tallies: idx[:, :, ::1] = counts
        trained: cython.uchar[:, ::1] = done
        of_rows: cython.uchar[:, :, ::1] = marks
        for k in range(7):
            self.rows[k] = cython.address(own[k, 0, 0])
        signs: cython.double[:, ::1] = self.side
        self.sides = cython.address(signs[0, 0]) if with_sides else cython.NULL
        of_values: cython.double[:, :, ::1] = values
        self.with_values = with_values
        for k in range(2):
            self.values[k] = cython.address(of_values[k, 0, 0]) if with_values else cython.NULL
        for k in range(4):
            self.numbers[k] = cython.address(of_machines[k, 0, 0])
        for k in range(5):
            self.counts[k] = cython.address(tallies[k, 0, 0])
        for k in range(2):
            self.marks[k] = cython.address(of_rows[k, 0, 0])
        self._done = cython.address(trained[0, 0])

    def at(self, step, machine, start, found):
        """Where the results of a machine for one vector of weights stand."""
        row, own = step * self.total + start, step * self.count + machine
        found.alpha, found.decision = self.rows[0] + row, self.rows[1] + row
        found.span, found.left_out = self.rows[2] + row, self.rows[3] + row
        found.drop, found.verified = self.rows[4] + row, self.rows[5] + row
        found.shift = self.rows[6] + row
        found.doubtful, found.followed = self.marks[0] + row, self.marks[1] + row
        found.intercept, found.gap = self.numbers[0] + own, self.numbers[1] + own
        found.error, found.epsilon = self.numbers[2] + own, self.numbers[3] + own
        found.outside = self.values[0] + row if self.with_values else cython.NULL
        found.moved = self.values[1] + row if self.with_values else cython.NULL
        found.side = self.sides + row if self.sides else cython.NULL
        found.iterations, found.n_in_bound = self.counts[0] + own, self.counts[1] + own
        found.n_bounded, found.n_empty = self.counts[2] + own, self.counts[3] + own
        found.n_free = self.counts[4] + own

    def set_done(self, step, machine):
        """Mark a machine as trained."""
        self._done[step * self.count + machine] = True

"""Temporary memory for compiled code that runs without the GIL: taken and given back as on a stack.

A function notes ``count`` when it begins and releases what it has taken when it ends.  A failed
allocation is a MemoryError; whoever owns the scratch then releases everything.  As it goes wherever
the work is, it also counts the time until interrupts are answered.
"""

import cython
from cython.cimports.cpython.exc import PyErr_CheckSignals
from cython.cimports.libc.stdlib import free, malloc, realloc

from spansvm.common.stopping import check_stop

#: Bytes of a matrix that takes a millisecond or more to work on.
LARGE = 1_000_000


def open_scratch(s):
    """A scratch from which nothing is taken."""
    s.taken, s.count, s.room, s.spent = cython.NULL, 0, 0, 0.0
    s.lent, s.lent_room = cython.NULL, 0


def spend(s, nanoseconds):
    """Answer interrupts, such as Ctrl-C, whenever about a tenth of a second is spent.

    Signals come to the main thread alone; others are told by it.
    """
    s.spent += nanoseconds
    if s.spent > 1e8:
        s.spent = 0.0
        with cython.gil:
            PyErr_CheckSignals()
            check_stop()
    return 0


def _take(s, size):
    if s.count == s.room:
        room = 2 * s.room + 32
        grown = cython.cast(cython.pp_void, realloc(s.taken, room * cython.sizeof(cython.p_void)))
        if not grown:
            with cython.gil:
                raise MemoryError
        s.taken, s.room = grown, room
    found = malloc(size if size > 0 else 1)
    if not found:
        with cython.gil:
            raise MemoryError(f"{size:,} bytes are more than there are.")
    s.taken[s.count] = found
    s.count += 1
    if size > LARGE:  # routines of LAPACK follow, which nothing interrupts
        spend(s, 3.0 * size)
    return found


def doubles(s, n):
    """Room for n numbers."""
    return cython.cast(cython.p_double, _take(s, n * cython.sizeof(cython.double)))


def lent(s, n):
    """Room for n numbers that is lent to one user at a time, if there is enough; else its own."""
    return s.lent if n <= s.lent_room else doubles(s, n)


def indices(s, n):
    """Room for n integers."""
    return cython.cast(cython.pointer(idx), _take(s, n * cython.sizeof(idx)))


def flags(s, n):
    """Room for n marks."""
    return cython.cast(cython.pointer(flag), _take(s, n))


def release(s, count):
    """Give back all but the first `count` allocations."""
    while s.count > count:
        s.count -= 1
        free(s.taken[s.count])


def release_all(s):
    """Give back everything; the scratch can be used again."""
    release(s, 0)
    free(s.taken)
    s.taken, s.room = cython.NULL, 0

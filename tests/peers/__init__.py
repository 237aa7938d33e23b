"""scikit-learn's own tests of SVC, SVR and their searches, run against our classes.

The tests are those of the installed scikit-learn; nothing of it is copied.  ``stand_ins`` has what
takes the place of its classes, ``plugin`` puts it there while pytest imports the tests,
``expected`` lists the tests that fail and why, and ``python -m tests.peers`` (``make peers``) runs
them.
"""

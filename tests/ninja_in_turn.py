"""ninja for an editable install: in one folder one process builds, the others wait.

An editable install is built when it is imported, and by each process that imports it: pytest's
workers, programs that tests start, a second pytest.  Two builds at once write the same files, and
may load or link one that is half written.  Who waited finds that nothing is left to do.
"""

import fcntl
import os
import sys

#: Set for what a build starts: meson calls ninja as well, when it configures anew.
INSIDE = "SPANSVM_NINJA_IN_TURN"

if __name__ == "__main__":
    if INSIDE not in os.environ:
        os.environ[INSIDE] = "1"
        folder = os.open(".", os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        os.set_inheritable(folder, True)  # ninja takes the lock over, and ends with it
    ninja = os.path.join(os.path.dirname(sys.executable), "ninja")
    os.execv(ninja, [ninja, *sys.argv[1:]])

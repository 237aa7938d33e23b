"""What this Python lacks to install spansvm from a checkout, and the package that has it.

The Makefile runs it before it creates an environment, by whatever Python 3 it was given.
"""

import importlib.util
import os
import sys
import sysconfig

OLDEST = (3, 10)


def missing():
    """Lines that say what is missing and where it is; none if all is there."""
    name = "Python {}.{}".format(*sys.version_info)
    if sys.version_info < OLDEST:
        return [
            "spansvm needs Python {}.{} or later,".format(*OLDEST)
            + f" and {sys.executable} is {name}. Name another one: make demo PYTHON=python3.12",
            "Debian, Ubuntu: apt install python3 python3-venv python3-dev;"
            " Fedora: dnf install python3.12-devel",
        ]
    lines = []
    if not all(map(importlib.util.find_spec, ("venv", "ensurepip"))):
        lines.append(
            name + " has no venv, or no pip for it."
            " Debian, Ubuntu: apt install python3-venv; Fedora: dnf install python3"
        )
    if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
        lines.append(
            name + " has no headers (Python.h), which the compiled core needs."
            " Debian, Ubuntu: apt install python3-dev; Fedora: dnf install python3-devel"
        )
    return lines


if __name__ == "__main__":
    sys.exit("\n".join(missing()) or None)

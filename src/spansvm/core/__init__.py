"""The compiled core: Cython in its pure-Python mode, compiled when the package is built.

Each module has a header, its ``.pxd``: the types of its functions, and the structures that they
work on.  The loops over rows are built once for every level of processor; here the build that suits
this one takes its place among the other modules, which call it.
"""

import sys
from importlib import import_module

from .levels import best_level

__all__ = ["level"]

#: The level of processor whose build of the loops is in use.
level = best_level()

for _name in ("loops", "gaussian"):
    sys.modules[f"{__name__}.{_name}"] = import_module(f".{level}.{_name}", __name__)

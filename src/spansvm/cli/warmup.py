"""``spansvm warmup``: compiles everything ahead."""

from __future__ import annotations

from .options import Debug, Quiet
from .terminal import Terminal

__all__ = ["HELP", "warmup"]

HELP = (
    "Compile everything ahead, so that no later process has to.\n\n"
    "For container images and clusters. The compiled code is kept in the folder named by "
    "NUMBA_CACHE_DIR, otherwise beside the installed package, or in the user's cache folder if "
    "that cannot be written. It belongs to the kind of processor that it was compiled on.\n\n"
    "\b\n"
    "  spansvm warmup\n"
    "  NUMBA_CACHE_DIR=/opt/compiled spansvm warmup"
)


def warmup(quiet: Quiet = False, debug: Debug = False) -> None:
    """See HELP."""
    import time

    from .._compile import cache_folder
    from ..warmup import warmup as compile_all

    terminal = Terminal(quiet=quiet)
    started = time.perf_counter()
    count = compile_all()
    seconds = time.perf_counter() - started
    done = f"Compiled {count} functions in {seconds:.0f} s" if count else "All was compiled already"
    terminal.say(f"{done}; kept in {cache_folder()}.")

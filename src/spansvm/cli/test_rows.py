"""The confusion matrix of test rows, on the terminal."""

from __future__ import annotations

from ..report.plain import cut
from .held_out import HeldOut
from .terminal import Terminal

__all__ = ["print_confusion"]


def print_confusion(test: HeldOut, terminal: Terminal) -> None:
    """Print the labels of the test rows against the predictions."""
    terminal.table(
        {"label": "left", **{f"predicted {cut(label)}": "right" for label in test.classes}},
        [[cut(label), *counts] for label, counts in zip(test.classes, test.confusion, strict=True)],
        f"Confusion matrix for {test.source}:",
    )

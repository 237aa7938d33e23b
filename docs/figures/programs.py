"""Pictures of the programs in examples/, for light and dark pages."""

from __future__ import annotations

import runpy
from pathlib import Path
from tempfile import TemporaryDirectory

from docs.figures.drawing import for_both, in_style
from docs.figures.measured import ROOT

#: The programs that draw, by the names of their files.
EXAMPLES = {path.stem: path for path in sorted((ROOT / "examples").glob("[0-9]*.py"))}


def draw_example(name: str) -> str:
    """Run an example in the style of the documentation, and give its picture as SVG."""
    program = runpy.run_path(str(EXAMPLES[name]))
    with TemporaryDirectory() as folder, in_style():
        picture = Path(folder) / f"{name}.svg"
        program["main"](picture)
        return for_both(picture.read_text(encoding="utf-8"))

"""Draw pictures of the documentation: ``python -m docs.figures [NAME ...]``, all by default.

Pictures of the guide and of results go to docs/images, those of examples to examples/images.  Then
the measured figures are written into the pages that have them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from docs.figures import measured, models, results, searches, span
from docs.figures.drawing import in_style, svg
from docs.figures.programs import EXAMPLES, draw_example

IMAGES = measured.ROOT / "docs" / "images"
EXAMPLE_IMAGES = measured.ROOT / "examples" / "images"

#: The pictures of docs/images, by the names of their files.
FIGURES: dict[str, Callable] = {
    drawing.__name__.replace("_", "-"): drawing
    for module in (span, models, searches, results)
    for drawing in module.FIGURES
}


def main(names: list[str]) -> None:
    """Draw the named pictures, or all, and write the measured figures into the pages."""
    known = [*FIGURES, *EXAMPLES, "readme"]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"There is no picture {unknown[0]!r}, but there are {', '.join(known)}")
    for name in names or known:
        if name in FIGURES:
            with in_style():
                (IMAGES / f"{name}.svg").write_text(svg(FIGURES[name]()), encoding="utf-8")
        elif name in EXAMPLES:
            (EXAMPLE_IMAGES / f"{name}.svg").write_text(draw_example(name), encoding="utf-8")
        else:
            searches.readme().savefig(IMAGES / "search.png", dpi=110)
    measured.write_pages()


if __name__ == "__main__":
    main(sys.argv[1:])

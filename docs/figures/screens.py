"""Pictures of the command line and of its report: ``make screens``, which needs chromium.

The table of tumours of scikit-learn is written to a file, ``spansvm tune`` reads it, what it prints
becomes an SVG, and a browser takes pictures of the report, on a light and on a dark page.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import textwrap
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from sklearn.datasets import load_breast_cancer

from docs.figures.measured import ROOT

IMAGES = ROOT / "docs" / "images"

#: Of a character and a line, and of the frame around the text.
_WIDTH, _HEIGHT, _MARGIN = 7.25, 18, 18
_COLUMNS = 98

#: Of the report: as wide as it is read, and what is seen of it first.
_PAGE = (1040, 1080)


def tune(folder: Path) -> str:
    """Write the table, tune on it, and give what the command prints."""
    data = load_breast_cancer(as_frame=True)
    names = [data.target_names[label] for label in data.target]
    data.data.assign(diagnosis=names).to_csv(folder / "tumours.csv", index=False)
    program = Path(sys.executable).with_name("spansvm")
    done = subprocess.run(
        [program, "tune", "tumours.csv"], cwd=folder, text=True, check=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "COLUMNS": str(_COLUMNS), "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    return done.stdout


def terminal(command: str, printed: str) -> str:
    """A terminal window with a command and what it printed, as SVG; dark on every page."""
    lines = [f"$ {command}"]
    for line in printed.rstrip().splitlines():
        lines += textwrap.wrap(line, _COLUMNS, drop_whitespace=False) or [""]
    width = _COLUMNS * _WIDTH + 2 * _MARGIN
    height = len(lines) * _HEIGHT + 2 * _MARGIN
    texts = "\n".join(
        f'<text x="{_MARGIN}" y="{_MARGIN + (place + 0.75) * _HEIGHT:g}">'
        f"{escape(line, quote=False)}</text>"
        for place, line in enumerate(lines)
        if line
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" '
        f'width="{width:g}" height="{height}">\n'
        "<style>text{font:12px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;"
        "fill:#dfe3ea;white-space:pre}text:first-of-type{fill:#8fd18f}</style>\n"
        f'<rect x="0.5" y="0.5" width="{width - 1:g}" height="{height - 1}" rx="8" fill="#161b22" '
        'stroke="#4a505c"/>\n'
        f"{texts}\n</svg>\n"
    )


def photograph(page: Path, scheme: str) -> Image.Image:
    """The top of a page in a browser, as it is on a light or dark screen."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for option in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(option)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        size = {"width": _PAGE[0], "height": _PAGE[1], "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        wanted = [{"name": "prefers-color-scheme", "value": scheme}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})
        driver.get(page.as_uri())
        return Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
    finally:
        driver.quit()


def main() -> None:
    """Make all pictures."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        text = terminal("spansvm tune tumours.csv", tune(folder))
        (IMAGES / "terminal.svg").write_text(text, encoding="utf-8")
        for scheme in ("light", "dark"):
            picture = photograph(folder / "tumours-tuned" / "report.html", scheme)
            picture.quantize(64, dither=Image.Dither.NONE).save(
                IMAGES / f"report-{scheme}.png", optimize=True
            )


if __name__ == "__main__":
    main()

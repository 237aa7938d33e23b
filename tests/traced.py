"""The lines of compiled code that did not run: the last part of ``make coverage``.

The C compiler counts how often each line of C runs, and comments in the C code tell from which
line of the Python source it was made.  Line tracing by Cython would take a hundred times as long.

``python tests/traced.py FOLDER`` takes the counts from the folder of a build with -Dtraced=true.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "src"
LEVELS = ("baseline", "v3")


def counts(folder: Path) -> dict[Path, dict[int, int]]:
    """How often each line of each C file ran."""
    found: dict[Path, dict[int, int]] = {}
    for data in sorted(folder.rglob("*.gcno")):
        name = str(data.relative_to(folder))
        command = ["gcov", "--json-format", "--stdout", name]
        answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        for file in json.loads(answer.stdout)["files"]:
            if file["file"].endswith(".c"):
                lines = found.setdefault(folder / file["file"], defaultdict(int))
                for line in file["lines"]:
                    lines[line["line_number"]] += line["count"]
    return found


def origins(code: str) -> Iterator[tuple[int, str, int]]:
    """For lines of C that were made from one: their number, and the Python file and line."""
    origin = None
    for number, line in enumerate(code.splitlines(), 1):
        found = re.match(r'\s*/\* "(.+\.py)":(\d+)$', line)
        if found:
            origin = found[1], int(found[2])
        elif line == "}":
            origin = None
        elif origin:
            yield number, *origin


def lines_of_python(folder: Path) -> dict[str, dict[int, int]]:
    """How often each line of the Python sources ran, at whatever level of processor."""
    ran: dict[str, dict[int, int]] = defaultdict(dict)
    for path, lines in counts(folder).items():
        for number, name, line in origins(path.read_text(encoding="utf-8")):
            if number in lines:
                source = str(Path(*(part for part in Path(name).parts if part not in LEVELS)))
                ran[source][line] = max(ran[source].get(line, 0), lines[number])
    return ran


def ranges(lines: list[int]) -> str:
    """Such as "3-5, 9"."""
    parts = []
    for _, group in groupby(enumerate(lines), lambda pair: pair[1] - pair[0]):
        run = [line for _, line in group]
        parts.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
    return ", ".join(parts)


def main() -> int:
    """Print a table of the sources."""
    ran = lines_of_python(Path(sys.argv[1]).resolve())
    if not ran:
        print("No counts of compiled code.")
        return 1
    total = missed = 0
    print(f"{'compiled':<40} {'lines':>6} {'missed':>6}  which")
    for source in sorted(ran):
        if not (SOURCES / source).exists():
            continue
        never = sorted(line for line, count in ran[source].items() if not count)
        total, missed = total + len(ran[source]), missed + len(never)
        print(f"{source:<40} {len(ran[source]):6} {len(never):6}  {ranges(never)}".rstrip())
    print(f"{'all':<40} {total:6} {missed:6}  {100 * (1 - missed / total):.1f} % ran")
    return 0


if __name__ == "__main__":
    sys.exit(main())

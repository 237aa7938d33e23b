"""What the documentation needs while mkdocs builds it: formulas, and files from outside docs/.

- Formulas, ``$...$`` within a line and ``$$...$$`` as a block, become MathML, which browsers show
  without fonts or scripts from elsewhere.
- Pages link to ``benchmarks/`` and ``examples/`` as they do in the repository, with
  ``../examples/x.py``; these files are taken into the site.
- Roles in docstrings, ``:class:`~spansvm.SpanSVC```, become links where the reference has the name,
  and so do the names of ``See Also``.
- Pages that another command generates are left out of the navigation where they are not there.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

_LOG = logging.getLogger("mkdocs.hooks.spansvm")

#: Written by other parts of the project, and not always there.
GENERATED_PAGES = ("command-line.md", "reproduction.md")

#: What the site takes from outside docs/.
_TAKEN = ("benchmarks/results/*.csv", "examples/*.py", "examples/images/*.png")

#: The page of a class or function in scikit-learn's reference.
_SKLEARN = "https://scikit-learn.org/stable/modules/generated/{}.html"

_FENCE = re.compile(r"^(```.*?^```)", flags=re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"(`[^`\n]+`)")
_BLOCK = re.compile(r"\$\$(.+?)\$\$", flags=re.DOTALL)
_INLINE = re.compile(r"\$([^$\n]+)\$")
_ROLE = re.compile(r":(?:class|data|func|meth|mod):<code>(~?)([\w.]+)</code>")
_SEE_ALSO = re.compile(r"(<summary>See Also</summary>\s*)<p>(.*?)</p>", flags=re.DOTALL)
_OUTSIDE = re.compile(r"\]\(\.\./((?:\.\./)*(?:benchmarks|examples)/)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Leave generated pages that are not there out of the navigation."""
    config.nav = without_missing(config.nav, Path(config.docs_dir))
    return config


def without_missing(entries: Any, docs: Path) -> list[Any]:
    """The entries of a navigation, without the generated pages that are not in `docs`."""
    kept = []
    for entry in entries:
        ((title, target),) = entry.items()
        if isinstance(target, list):
            kept.append({title: without_missing(target, docs)})
        elif target in GENERATED_PAGES and not (docs / target).exists():
            _LOG.info("%s has not been generated; the site is built without it.", target)
        else:
            kept.append(entry)
    return kept


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Take benchmark results and examples into the site."""
    root = Path(config.docs_dir).parent
    for path in sorted(path for pattern in _TAKEN for path in root.glob(pattern)):
        name = path.relative_to(root).as_posix()
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Turn formulas into MathML, and links to files of the repository into links of the site."""
    markdown = _OUTSIDE.sub(r"](\1", markdown)
    # Dollars in code are no formulas.
    pieces = _FENCE.split(markdown)
    pieces[::2] = [_BLOCK.sub(_displayed, piece) for piece in pieces[::2]]
    for number in range(0, len(pieces), 2):
        parts = _CODE.split(pieces[number])
        parts[::2] = [_INLINE.sub(_in_line, part) for part in parts[::2]]
        pieces[number] = "".join(parts)
    return "".join(pieces)


def _displayed(found: re.Match[str]) -> str:
    formula = convert(" ".join(found[1].split()), display="block")
    return f'<div class="formula">{formula}</div>'


def _in_line(found: re.Match[str]) -> str:
    # In a span: a line that begins with <math> would be taken for a block.
    return f"<span>{convert(found[1])}</span>"


def on_page_content(html: str, **_: Any) -> str:
    """Turn roles in docstrings into links, and what they refer to into lists of links."""
    return _SEE_ALSO.sub(_references, _ROLE.sub(_role, html))


def _role(found: re.Match[str]) -> str:
    name = found[2]
    return _link(name, name.rpartition(".")[2] if found[1] else name)


def _references(found: re.Match[str]) -> str:
    """Lines ``name : what it is``, of names that are in the package unless they say where."""
    entries = []
    for line in found[2].splitlines():
        name, _, text = line.partition(" : ")
        shown = name.rpartition(".")[2]
        if name.startswith("sklearn."):
            link = f'<a href="{_SKLEARN.format(name)}"><code>{shown}</code></a>'
        else:
            link = _link(name if name.startswith("spansvm.") else f"spansvm.{name}", shown)
        entries.append(f"<li>{link}: {text}</li>")
    return f"{found[1]}<ul>{''.join(entries)}</ul>"


def _link(name: str, shown: str) -> str:
    return f'<autoref identifier="{name}" optional><code>{shown}</code></autoref>'

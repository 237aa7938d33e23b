"""Print the files and folders of the package that are not installed; for meson.build."""

from pathlib import Path

package = Path(__file__).parents[1]
core = package / "core"
folders = [package, *(path for path in package.rglob("*") if path.is_dir())]
files = [*package.rglob("meson.build"), Path(__file__)]
# What is compiled must not be found as Python.
files += [path.with_suffix(".py") for path in core.glob("*.pxd")]
for path in [
    *(folder / "__pycache__" for folder in folders if folder.name != "__pycache__"),
    *files,
]:
    print(path.relative_to(package).as_posix())

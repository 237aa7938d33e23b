"""What pyproject.toml promises about versions is what ``make oldest`` installs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10; pytest brings it
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, BUILD = SETTINGS["project"], SETTINGS["build-system"]["requires"]


def _promised(extra: str) -> dict[str, Version]:
    """Oldest version of every dependency, with an extra and to build, by name."""
    oldest: dict[str, Version] = {}
    for line in BUILD + PROJECT["dependencies"] + PROJECT["optional-dependencies"].get(extra, []):
        requirement = Requirement(line)
        if requirement.name == PROJECT["name"]:
            for other in requirement.extras:
                oldest |= _promised(other)
            continue
        for specifier in requirement.specifier:
            if specifier.operator == ">=":
                oldest[canonicalize_name(requirement.name)] = Version(specifier.version)
    return oldest


def _constraints() -> dict[str, SpecifierSet]:
    lines = (ROOT / "tests" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    found = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(one.name): one.specifier for one in found}


def test_the_oldest_versions_that_are_tried_are_those_that_are_promised() -> None:
    tried = {}
    for name, specifiers in _constraints().items():
        for specifier in specifiers:
            if specifier.operator == "==":
                tried[name] = Version(specifier.version)
    assert tried == _promised("test")


def test_other_constraints_are_upper_limits_of_indirect_dependencies() -> None:
    indirect = {name: one for name, one in _constraints().items() if name not in _promised("test")}
    assert {name: [one.operator for one in ones] for name, ones in indirect.items()} == {
        name: ["<"] for name in indirect
    }


def test_what_is_needed_to_build_and_to_run_has_one_oldest_version() -> None:
    running = {Requirement(line).name: line for line in PROJECT["dependencies"]}
    for line in BUILD:
        assert running.get(Requirement(line).name, line) == line


@pytest.mark.parametrize("extra", ["", *PROJECT["optional-dependencies"]])
def test_every_dependency_has_an_oldest_version(extra: str) -> None:
    lines = PROJECT["optional-dependencies"].get(extra, PROJECT["dependencies"])
    without = [line for line in lines if ">=" not in line]
    # An upper limit alone, and extras of this project, which have no version of their own.
    assert [line for line in without if "<" not in line and PROJECT["name"] not in line] == []


def test_the_pythons_that_are_listed_begin_with_the_oldest_one() -> None:
    versions = [
        Version(found[1])
        for line in PROJECT["classifiers"]
        if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line))
    ]
    assert PROJECT["requires-python"] == f">={min(versions)}"
    assert [version.minor for version in versions] == list(
        range(min(versions).minor, max(versions).minor + 1)
    )


def test_one_version_is_named_everywhere() -> None:
    places = {
        "meson.build": r"^  version: '(.+)',$",
        "src/spansvm/__init__.py": r'^__version__ = "(.+)"$',
        "CITATION.cff": r"^version: (.+)$",
        "conda/recipe.yaml": r'^  version: "(.+)"$',
    }
    for name, pattern in places.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        assert re.findall(pattern, text, flags=re.MULTILINE) == [PROJECT["version"]], name


def test_the_changelog_has_a_heading_for_the_version_and_its_date() -> None:
    released = re.search(
        r'^date-released: "([\d-]+)"$',
        (ROOT / "CITATION.cff").read_text(encoding="utf-8"), flags=re.MULTILINE,
    )[1]  # fmt: skip
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {PROJECT['version']} - {released}\n" in changelog

"""What pyproject.toml promises about versions is what ``make oldest`` installs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

import spansvm

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10; pytest brings it
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, BUILD = SETTINGS["project"], SETTINGS["build-system"]["requires"]
_OF_APPLICATION = tomllib.loads((ROOT / "app" / "pyproject.toml").read_text(encoding="utf-8"))
APPLICATION = _OF_APPLICATION["project"]
BUILD_OF_APPLICATION = _OF_APPLICATION["build-system"]["requires"]
EXTRAS, GROUPS = PROJECT["optional-dependencies"], SETTINGS["dependency-groups"]
OF_APPLICATION = [APPLICATION["dependencies"], *APPLICATION["optional-dependencies"].values()]


def _promised() -> dict[str, Version]:
    """Oldest version of everything that `make oldest` installs, by name."""
    lines = [*PROJECT["dependencies"], *(line for extra in EXTRAS.values() for line in extra)]
    lines += [line for part in OF_APPLICATION for line in part]
    lines += [line for group in ("build", "docs", "peers", "test") for line in GROUPS[group]]
    return {
        canonicalize_name(requirement.name): Version(specifier.version)
        for requirement in map(Requirement, lines)
        for specifier in requirement.specifier
        if specifier.operator == ">="
    }


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
    assert tried == _promised()


def test_other_constraints_are_upper_limits_of_indirect_dependencies() -> None:
    indirect = {name: one for name, one in _constraints().items() if name not in _promised()}
    assert {name: [one.operator for one in ones] for name, ones in indirect.items()} == {
        name: ["<"] for name in indirect
    }


def test_what_is_needed_to_build_and_to_run_has_one_oldest_version() -> None:
    running = {Requirement(line).name: line for line in PROJECT["dependencies"]}
    for line in BUILD:
        assert running.get(Requirement(line).name, line) == line


def test_what_builds_the_project_builds_it_in_the_environment_of_developers() -> None:
    beside = {"ninja>=1.11.1", "editables>=0.5"}  # for editable installs
    assert set(GROUPS["build"]) - set(BUILD) == {*beside, *BUILD_OF_APPLICATION}
    assert set(BUILD) <= set(GROUPS["build"])


@pytest.mark.parametrize(
    "lines", [PROJECT["dependencies"], *EXTRAS.values(), *GROUPS.values(), *OF_APPLICATION]
)
def test_every_dependency_has_an_oldest_version(lines: list[str | dict[str, str]]) -> None:
    lines = [line for line in lines if isinstance(line, str)]  # not: include-group
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


def test_the_version_stands_in_one_place_of_either_distribution() -> None:
    assert spansvm.__version__ == PROJECT["version"]
    assert APPLICATION["version"] == PROJECT["version"]
    for line in (line for part in (*EXTRAS.values(), *OF_APPLICATION) for line in part):
        if re.match("spansvm(-app)?(?!.*cli)", line):
            assert line.endswith(f"=={PROJECT['version']}")
    for name in ("meson.build", "src/spansvm/__init__.py", "CITATION.cff", "conda/recipe.yaml"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert not re.search(r"^ *_*version_*\W+\d", text, flags=re.MULTILINE), name


def test_both_distributions_are_of_the_same_people_license_and_pythons() -> None:
    for name in ("requires-python", "license", "authors"):
        assert APPLICATION[name] == PROJECT[name]
    licenses = [(ROOT / folder / "LICENSE").read_bytes() for folder in (".", "app")]
    assert licenses[0] == licenses[1]


def test_what_both_need_has_one_oldest_version() -> None:
    known = {Requirement(line).name: line for line in PROJECT["dependencies"]}
    known |= {Requirement(line).name: line for name in ("plots", "models") for line in EXTRAS[name]}
    for line in APPLICATION["dependencies"]:
        assert known.get(Requirement(line).name, line) == line


def test_the_changelog_has_a_heading_for_the_version_and_its_date() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = rf"^## {re.escape(PROJECT['version'])} - \d{{4}}-\d\d-\d\d$"
    assert re.search(heading, changelog, flags=re.MULTILINE)

"""The recipes for conda say what either pyproject.toml says, and rattler-build reads them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.project.test_versions import APPLICATION, BUILD, PROJECT

yaml = pytest.importorskip("yaml", reason="pyyaml is not installed")

PATH = Path(__file__).resolve().parents[2] / "conda" / "recipe.yaml"
RECIPE = yaml.safe_load(PATH.read_text(encoding="utf-8"))
OF_APPLICATION = PATH.parent / "app" / "recipe.yaml"

#: conda's names of some packages of PyPI.
NAMES = {"matplotlib": "matplotlib-base"}


def written(lines):
    """Requirements as conda writes them."""
    found = map(Requirement, lines)
    return {f"{NAMES.get(one.name, one.name)} {one.specifier}" for one in found}


def test_it_is_of_this_license_and_python():
    assert RECIPE["about"]["license"] == PROJECT["license"]
    assert RECIPE["about"]["license_file"] == PROJECT["license-files"][0]
    oldest = re.search(r"<([\d.]+)", RECIPE["build"]["skip"])[1]
    assert PROJECT["requires-python"] == f">={oldest}"


def test_it_needs_what_the_project_needs():
    requirements = RECIPE["requirements"]
    assert set(requirements["run"]) == {"python"} | written(PROJECT["dependencies"])
    assert set(requirements["host"]) == {"python", "pip"} | written(BUILD)
    (cross,) = (one for one in requirements["build"] if isinstance(one, dict))
    assert written(BUILD) <= set(cross["then"])


def test_the_application_needs_what_it_says_and_has_its_command():
    recipe = yaml.safe_load(OF_APPLICATION.read_text(encoding="utf-8"))
    own = [line for line in APPLICATION["dependencies"] if not line.startswith("spansvm==")]
    needed = recipe["requirements"]["run"]
    assert set(needed) - written(own) == {
        f"python {APPLICATION['requires-python']}",
        "spansvm ==${{ version }}",
    }
    ((name, place),) = APPLICATION["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {place}"]
    assert recipe["about"]["license"] == APPLICATION["license"]


def test_the_files_that_it_names_exist():
    (smoke,) = (one for one in RECIPE["tests"] if "files" in one)
    for name in smoke["files"]["source"]:
        assert (PATH.parents[1] / name).is_file()
        assert any(name in command for command in smoke["script"])


def test_rattler_build_renders_it(monkeypatch):
    monkeypatch.setenv("SPANSVM_VERSION", PROJECT["version"])
    build = pytest.importorskip("rattler_build", reason="py-rattler-build is not installed")
    pythons = ["3.10.* *_cpython", "3.14.* *_cp314"]
    others = {"c_compiler": ["gcc"], "c_stdlib": ["sysroot"], "c_stdlib_version": ["2.28"]}
    rendered = build.Stage0Recipe.from_file(str(PATH)).render(
        build.VariantConfig({"python": pythons, **others})
    )
    assert len(rendered) == len(pythons)
    for one in rendered:
        recipe = one.recipe.to_dict()
        assert recipe["package"] == {"name": "spansvm", "version": PROJECT["version"]}
        assert set(recipe["requirements"]["run"]) == set(RECIPE["requirements"]["run"])


def test_rattler_build_renders_that_of_the_application(monkeypatch):
    monkeypatch.setenv("SPANSVM_VERSION", APPLICATION["version"])
    build = pytest.importorskip("rattler_build", reason="py-rattler-build is not installed")
    recipe = build.Stage0Recipe.from_file(str(OF_APPLICATION))
    (one,) = recipe.render(build.VariantConfig({"python": ["3.13.* *_cp313"]}))
    found = one.recipe.to_dict()
    assert found["package"] == {"name": "spansvm-app", "version": APPLICATION["version"]}
    assert f"spansvm =={APPLICATION['version']}" in found["requirements"]["run"]

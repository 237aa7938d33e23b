"""Workflows and forms for those who host the repository agree with the rest of the project.

``make lint`` checks their form; here is what hangs on other files, and what that does not see.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="pyyaml is not installed")

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = {path.stem: path for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))}


#: What some jobs of a workflow may do; all others only read.
MORE = {
    ("release", "attest"): {"id-token": "write", "attestations": "write"},
    ("release", "publish"): {"id-token": "write"},
    ("release", "publish-app"): {"id-token": "write"},
    ("release", "pages"): {"contents": "write"},
}


def jobs(name):
    return yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))["jobs"]


def commands(job):
    return [step["run"] for step in job["steps"] if "run" in step]


def test_there_is_one_for_changes_and_one_for_releases():
    assert set(WORKFLOWS) == {"ci", "release"}


def test_the_pythons_are_those_that_the_project_names():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    named = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', project)
    assert jobs("ci")["tests"]["strategy"]["matrix"]["python"] == named
    assert f'requires-python = ">={named[0]}"' in project


def test_every_system_is_tried():
    systems = jobs("ci")["tests"]["strategy"]["matrix"]["system"]
    assert {system.split("-")[0] for system in systems} == {"ubuntu", "macos", "windows"}
    assert any(system.endswith("-arm") for system in systems)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_what_jobs_refer_to_exists(name):
    for job in jobs(name).values():
        assert job.get("needs") in {None, *jobs(name)}
        matrix = job.get("strategy", {}).get("matrix", {})
        assert set(re.findall(r"\bmatrix\.(\w+)", str(job))) == set(matrix)


def test_the_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    called = [run for job in jobs("ci").values() for run in commands(job)]
    (fresh,) = (run for run in called if "docker" in run)
    assert "make demo test'" in fresh
    named = {run.removeprefix("make ") for run in called if run.startswith("make ")}
    assert named == {"lint", "docs", "full", "oldest", "portable", "wheel"}
    for target in {"demo", "test", *named}:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_the_lines_without_make_are_those_of_the_documentation():
    page = (ROOT / "docs" / "getting-started.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^py -m venv .venv\n(.+?)^```", page, flags=re.MULTILINE | re.DOTALL)
    lines = [line.replace(".venv\\Scripts\\", "") for line in block.splitlines()]
    assert lines == commands(jobs("ci")["tests"])


@pytest.mark.parametrize("name", WORKFLOWS)
def test_jobs_end_and_may_do_only_what_they_need(name):
    workflow = yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))
    assert workflow["permissions"] == {}
    for key, job in workflow["jobs"].items():
        assert job["timeout-minutes"] <= 180
        assert job["permissions"] == MORE.get((name, key), {"contents": "read"})


@pytest.mark.parametrize(
    ("tag", "accepted"), [("v{}", True), ("{}", False), ("v{}.1", False), ("v0", False)]
)
def test_a_tag_that_is_not_the_version_is_not_released(tag, accepted, monkeypatch):
    pytest.importorskip("tomllib", reason="the release is built by a newer Python")
    (check,) = (run for run in commands(jobs("release")["build"]) if "GITHUB_REF_NAME" in run)
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    version = re.search(r'^version = "(.+)"$', project, flags=re.MULTILINE)[1]
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("GITHUB_REF_NAME", tag.format(version))
    if accepted:
        exec(check, {})
    else:
        with pytest.raises(SystemExit, match="The tag is"):
            exec(check, {})


def test_what_is_attested_and_published_are_the_distributions():
    release = jobs("release")
    given = [
        step["with"]
        for job in release.values()
        for step in job["steps"]
        if step.get("uses", "").startswith("actions/upload-artifact@")
    ]
    paths = {one["name"].split("-")[0]: set() for one in given}
    for one in given:
        paths[one["name"].split("-")[0]].add(one["path"])
    assert paths == {
        "dist": {"dist/spansvm-*.tar.gz", "wheelhouse/"},
        "app": {"dist/spansvm_app-*"},
        "materials": {"spansvm.cdx.json"},
    }
    for job, wanted, environment in (
        ("publish", {"pattern": "dist-*", "path": "dist/", "merge-multiple": True}, "pypi"),
        ("publish-app", {"name": "app-dist", "path": "dist/"}, "pypi-app"),
    ):
        taken, publish = release[job]["steps"]
        assert taken["with"] == wanted
        assert "pypi-publish" in publish["uses"]
        assert publish["with"] == {"attestations": True}
        assert release[job]["environment"] == environment


def test_one_action_has_one_pin():
    pins = re.findall(
        r"uses: ([\w/-]+)@([0-9a-f]{40}) # (v[\d.]+)$",
        "".join(path.read_text(encoding="utf-8") for path in WORKFLOWS.values()),
        flags=re.MULTILINE,
    )
    text = "".join(path.read_text(encoding="utf-8") for path in WORKFLOWS.values())
    assert len(pins) == text.count("uses: ")
    assert len(set(pins)) == len({name for name, _, _ in pins})


def test_the_pinned_actions_are_kept_up_to_date():
    settings = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))
    assert [one["package-ecosystem"] for one in settings["updates"]] == ["github-actions"]


def test_there_are_forms_for_bugs_questions_and_differences():
    forms = {path.stem: path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").iterdir()}
    assert set(forms) == {"bug", "question", "differs"}
    for name, path in forms.items():
        text = path.read_text(encoding="utf-8")
        form = yaml.safe_load(text)
        assert {"name", "description", "body"} == set(form), name
        labels = [one["attributes"]["label"] for one in form["body"] if one["type"] != "markdown"]
        assert len(labels) == len(set(labels)) > 0, name
        for page in re.findall(r"`(docs/[^`]+)`", text):
            assert (ROOT / page).exists(), page

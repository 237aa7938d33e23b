"""The list of compiled lines that did not run is that of the Python source."""

from __future__ import annotations

from tests import traced

CODE = """\
static int helper(void) {
}
  /* "spansvm/core/some.py":7
 *     before
 *     if x:             # <<<<<<<<<<<<<<
 */
  if (x) {

    /* "spansvm/core/some.py":8
 *     return 1             # <<<<<<<<<<<<<<
 */
    return 1;
  }
}
static int another(void) {
"""


def test_lines_of_c_belong_to_the_line_of_python_that_they_were_made_from():
    found = {number: line for number, _, line in traced.origins(CODE)}
    lines = CODE.splitlines()
    assert found[lines.index("  if (x) {") + 1] == 7
    assert found[lines.index("    return 1;") + 1] == 8
    assert 1 not in found
    assert len(lines) not in found


def test_the_levels_of_processor_count_together(monkeypatch, tmp_path):
    ran = {}
    for level, count in (("baseline", 0), ("v3", 5)):
        path = tmp_path / f"{level}.c"
        path.write_text(CODE.replace("core/", f"core/{level}/"), encoding="utf-8")
        ran[path] = {7: count, 12: 0}
    monkeypatch.setattr(traced, "counts", lambda folder: ran)
    assert traced.lines_of_python(tmp_path) == {"spansvm/core/some.py": {7: 5, 8: 0}}


def test_lines_that_follow_each_other_are_one_range():
    assert traced.ranges([3, 4, 5, 9]) == "3-5, 9"
    assert traced.ranges([]) == ""

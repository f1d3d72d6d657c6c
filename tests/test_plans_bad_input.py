"""Bad plan files: each error names file, line, value and what was expected, and all are reported at once."""

from contextlib import suppress
from pathlib import Path

import pytest

from tests.draws import draws
from truerail.plans import PlanError, dump_csv, load, loads
from truerail.plans.imports import import_text

HEADER = "a_device,a_role,a_port,b_device,b_role,b_port,rail,plane,speed_gbps"
ROW = "gpu-1,host,nic0,leaf-0,leaf,swp1,0,,400"
POD = "hosts: {nodes: 'gpu-[1-4]', nics: 'nic[0-1]'}\nleaves: {nodes: 'leaf-[0-1]'}\n"


def reported(text: str, suffix: str = ".yaml") -> list[str]:
    with pytest.raises(PlanError) as caught:
        loads(text, suffix, f"plan{suffix}")
    assert str(caught.value).splitlines() == [str(problem) for problem in caught.value.problems]
    return str(caught.value).splitlines()


def test_all_faults_are_reported_at_once_in_order() -> None:
    lines = reported("speed: x\nname: [a]\nhosts: {nodes: 'g[3-1]', color: red}\ntransport: y\n")
    assert [line.split(":")[1] for line in lines] == ["1", "2", "3", "3", "4"]


@pytest.mark.parametrize(
    "text",
    [
        "hosts: {nodes: 'a[1-99999999]'}\n",
        "hosts: {nodes: 'a[1-9999]b[1-9999]c[1-9999]'}\n",
        "[" * 100_000,
        "{a: " * 100_000,
        "- " * 100_000,
        "a: &a [x,x]\n"
        + "".join(f"{c}: &{c} [*{p},*{p}]\n" for p, c in zip("abcdefghijkl", "bcdefghijklm", strict=True)),
        "a: &a [x,x]\n"
        + "".join(f"{c}: &{c} [{','.join([f'*{p}'] * 9)}]\n" for p, c in zip("abcdefghi", "bcdefghij", strict=True))
        + "topology: {links: [{endpoints: [*j, *j]}]}\n",
        "hosts: {nics: &n [*n, *n]}\n",
        "hosts:\n  - &h {nodes: 'gpu-[1-500001]'}\n  - *h\n",
        "hosts: [" + "*a," * 5000 + "]\n",
    ],
    ids=["range", "product", "brackets", "braces", "dashes", "laughs", "lab", "itself", "shared", "nothing"],
)
def test_bombs_end_with_an_error(text: str) -> None:
    assert reported(text)  # what expands one of these does not come to its end
    with suppress(PlanError):  # what looks like JSON is refused
        assert import_text(text, "plan.yaml") is None


def test_too_many_aliases_are_refused() -> None:
    lines = reported("name: &a x\nhosts: [" + "*a," * 1001 + "]\n")
    assert lines == ["plan.yaml:2: more than 1000 aliases (value '*a')"]


def test_unreported_problems_are_counted() -> None:
    lines = reported(HEADER + "\n" + "x,host\n" * 150, ".csv")
    assert len(lines) == 101
    assert "50 more problems are not shown" in lines[-1]


@pytest.mark.parametrize("change", [str, lambda t: "\ufeff" + t, lambda t: t.replace("\n", "\r\n"),
                                    lambda t: t.replace(",", ";"), lambda t: t.replace(",", "\t"), lambda t: t + "\n\n"])  # fmt: skip  # noqa: E501 - one case a line
def test_csv_dialects(change: object) -> None:
    assert callable(change)
    plan = loads(change(f"{HEADER}\n{ROW}\n"), ".csv")
    assert [str(cable.b) for cable in plan.cables] == ["leaf-0/swp1"]


def test_header_order_is_free_and_optional_columns_may_miss() -> None:
    plan = loads("rail,b_port,b_role,b_device,a_port,a_role,a_device\n3,swp1,leaf,leaf-3,nic3,host,gpu-1\n", ".csv")
    assert (plan.cables[0].rail, plan.cables[0].line, plan.cables[0].speed_gbps) == (3, 2, None)


def test_formulas_are_defused_and_come_back() -> None:
    text = f"{HEADER},label\n" + ROW + ",=HYPERLINK(1)\n"
    written = dump_csv(loads(text, ".csv"))
    assert "'=HYPERLINK(1)" in written
    assert loads(written, ".csv").cables[0].label == "=HYPERLINK(1)"


def test_unreadable_files(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_bytes(b"name: a\nspeed: \xff\xfe\n")
    other = tmp_path / "plan.docx"
    for path, words in ((bad, "bad.yaml:2: not UTF-8"), (tmp_path / "none.csv", "none.csv: cannot be read"),
                        (tmp_path, "expected a plan file"), (other, "expected a plan file")):  # fmt: skip
        with pytest.raises(PlanError, match=words):
            load(path)


def test_many_lines_load() -> None:
    """Of a CSV its bytes are limited, and nothing else; in the soak a million lines are read."""
    lines = draws(100_000, 1_000_000)
    rows = "\n".join(f"g{i >> 3},host,n{i & 7},l{i & 7},leaf,p{i >> 3},{i & 7},,400" for i in range(lines))
    assert len(loads(f"{HEADER}\n{rows}\n", ".csv").cables) == lines


def test_dot_of_ptm_loads() -> None:
    text = """graph G {  /* a comment
 of two lines */
    LLDP=""
    # another
    "leaf1":"swp1" -- "spine2":"swp41" [LLDP="lldptmpl=L1", BFD="bfdtmpl=B1"]
    "leaf1":swp4 -- "gpu-1":eth0;
}
"""
    plan = loads(text, ".dot")
    assert [(str(c.a), str(c.b), c.line) for c in plan.cables] == [
        ("leaf1/swp1", "spine2/swp41", 5),
        ("gpu-1/eth0", "leaf1/swp4", 6),
    ]
    assert reported("graph G {\nwhat is this\n}\n", ".dot")[0].startswith("plan.dot:2: expected ")


def test_columns_of_another_list_are_unknown() -> None:
    assert reported("a,b,c\n1,2,3\n", ".csv")[0].startswith("plan.csv:1: unknown column")

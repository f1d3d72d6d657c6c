"""The text report: what it opens with, the picture, what it never hides, and that no foreign string acts."""

import re
from dataclasses import replace

import pytest
import report_fabric as fabric

from truerail.model import CableState, CauseKind, Reading, Severity, Status, Summary, Verdict
from truerail.outputs.report import Options, render


def text(evaluation, **options) -> str:
    report = render(evaluation, "text", Options(**options))
    assert isinstance(report, str)
    return report


def section(report: str, title: str) -> str:
    """A section's lines: from its title to the next line that is not indented and follows a blank one."""
    after = re.split(rf"^{title}.*$", report, maxsplit=1, flags=re.MULTILINE)[1]
    return re.split(r"\n\n(?=[A-Z][a-z])", after, maxsplit=1)[0]


def test_opens_with_the_verdict_then_what_to_do():
    lines = [line for line in text(fabric.every_cause()).splitlines() if line]
    assert lines[0] == "pod-1, 2026-11-20 14:00:05 UTC, 63 of 64 hosts read"
    assert lines[1] == "✗ 185 wrong, 1 missing, 4 could not be evaluated; 338 of 528 cables right."
    assert lines[2].strip() == "24 causes explain 198 of 199 findings; 46 cables to move."
    assert lines[3].startswith("What to do")


def test_every_kind_of_cause_is_reported_by_its_word():
    reported = re.findall(r"^C\d+ +([a-z-]+) ", text(fabric.every_cause()), flags=re.MULTILINE)
    assert sorted(reported) == sorted(kind.value for kind in CauseKind)


def test_a_move_names_the_plug_both_ports_the_label_and_the_places():
    first = section(text(fabric.every_cause()), "What to do").split("\nC2 ")[0]
    assert "1.  leaf-3/swp12  → leaf-1/swp12  gpu-012/enp60s0f0np0 label P1-012-1" in first
    assert "2.  leaf-1/swp12  → leaf-3/swp12  gpu-012/enp94s0f0np0 label P1-012-3" in first
    assert "leaf-1 rack N01 unit 31" in first
    assert "gpu-012 rack A03 unit 28" in first


def test_alternatives_and_what_decides_stand_with_the_cause():
    report = section(text(fabric.every_cause()), "What to do").split("\nC2 ")[0]
    assert "or gpu-nic-order: gpu-012 names two of its NICs in another order (no cable to move)" in report
    assert "to confirm: Nvidia-smi" not in report
    assert "to confirm: nvidia-smi topo -m on gpu-012" in report


def test_findings_without_a_cause_are_a_line_for_each_device():
    maker = fabric.Maker()
    for host in (2, 2, *range(5, 40)):
        maker.find(fabric.host_port(host, len(maker.findings) % 8), CableState.MISSING, rule="LNK002")
    report = text(maker.evaluation())
    lines = section(report, "Without a common cause  37 findings").splitlines()
    assert lines[1] == "  ! gpu-002  nothing seen on gpu-002/enp26s0f0np0, and 1 more like it"
    assert len(lines) == 1 + 25 + 1
    assert "and 11 more devices" in lines[-1]
    assert "gpu-039" in section(text(maker.evaluation(), details=True), "Without a common cause")
    maker.findings = [replace(one, severity=Severity.INFO) for one in maker.findings]
    assert "Without a common cause" not in text(maker.evaluation())


def test_many_moves_are_cut_and_said_to_be():
    evaluation = fabric.every_cause()
    assert "… and 24 more moves: add --details" in text(evaluation, next_step="add --details")
    assert "more moves" not in text(evaluation, details=True)


def test_hosts_that_look_alike_share_a_row_and_whole_ones_are_counted():
    maker = fabric.Maker()
    for host in (5, 6, 7):
        maker.find(fabric.host_port(host, 2), CableState.MISSING)
    rows = section(text(maker.evaluation()), "Rails").splitlines()
    assert rows[1].split() == list("01234567")
    assert rows[2].split() == ["gpu-[005-007]", "(3)", "·", "·", "○", "·", "·", "·", "·", "·"]
    assert rows[3].split() == ["61", "hosts", "right", *"········"]


def test_a_wrong_cell_says_on_which_rail_it_sits_and_why():
    rows = section(text(fabric.every_cause()), "Rails").splitlines()
    row = next(row for row in rows if row.strip().startswith("gpu-012"))
    assert row.split() == ["gpu-012", "·", "✗3", "·", "✗1", "✗7", "✗6", "✗5", "✗4", "C1", "C6", "C7"]


@pytest.mark.parametrize("ascii_only", [False, True])
def test_glyphs_differ_without_colour(ascii_only):
    maker = fabric.Maker(1, 4)
    states = [CableState.RIGHT, CableState.WRONG, CableState.MISSING, CableState.UNKNOWN]
    for rail, state in enumerate(states):
        maker.states[fabric.host_port(1, rail)] = state
    row = next(row for row in text(maker.evaluation(), ascii=ascii_only).splitlines() if row.startswith("  gpu-001"))
    cells = row.split()[1:]
    assert len(cells) == len(set(cells)) == 4


def test_a_dual_plane_rail_has_a_glyph_for_each_cable():
    maker = fabric.Maker(1, 2)
    cables = tuple(cable._replace(rail=0, plane=cable.rail) for cable in maker.plan.host_cables)
    maker.plan = replace(maker.plan, cables=cables)
    maker.states[fabric.host_port(1, 1)] = CableState.MISSING
    rows = section(text(maker.evaluation()), "Rails").splitlines()
    assert rows[1].split() == ["0"]
    assert rows[2].split() == ["gpu-001", "·○"]


def test_uplinks_are_reported_by_switch():
    maker = fabric.Maker()
    for uplink in maker.plan.uplinks_of("leaf-3"):
        maker.find(uplink.a, CableState.MISSING)
    report = text(maker.evaluation())
    assert "○ leaf-3 (rack N01 unit 33) 2 uplinks missing: swp[101-102]" in report


def test_clean_says_so_and_nothing_else():
    report = text(fabric.clean())
    assert "✓ All 528 cables are right." in report
    assert "64 hosts right" in report
    for absent in ("What to do", "Could not be evaluated", "--details", "✗ "):
        assert absent not in report.replace("✗ wrong", "").replace("✗3", "")


def test_unknown_is_never_fine():
    maker = fabric.Maker()
    maker.states[fabric.host_port(9, 0)] = CableState.UNKNOWN
    report = text(maker.evaluation())
    assert report.splitlines()[2] == "? 1 could not be evaluated; 527 of 528 cables right."
    assert "✓" not in report
    assert "1 planned cable:" in section(report, "Could not be evaluated")


def test_unread_devices_alone_are_a_doubt():
    maker = fabric.Maker()
    maker.unread.append(Reading("gpu-009", "rdma_link", fabric.AT, error="timed out"))
    report = text(maker.evaluation())
    assert report.splitlines()[2].startswith("? ")
    assert "? gpu-009 rdma_link: timed out" in section(report, "Could not be evaluated")


def test_equal_errors_are_reported_once():
    maker = fabric.Maker()
    maker.unread += [Reading(f"gpu-{h:03d}", "rdma_link", fabric.AT, error="timed out") for h in range(1, 11)]
    assert section(text(maker.evaluation()), "Could not be evaluated").count("timed out") == 1
    assert "gpu-[001-010] rdma_link: timed out" in text(maker.evaluation())


def test_rules_without_an_answer_and_broken_rules_are_reported():
    doubts = section(text(fabric.every_cause()), "Could not be evaluated")
    assert re.search(r"rule LNK001 \S+: no answer has network interfaces \(NetLink\)", doubts)
    assert re.search(r"rule NIC003 \S+ failed inside: KeyError: 'mlx5_9'", doubts)


def test_rules_without_facts_share_a_line_that_names_each_kind():
    maker = fabric.Maker()
    kinds = {"CFG003": "MacEntry", "LNK005": "Optic", "LNK006": "Optic"}
    maker.verdicts = [Verdict(code, Status.UNKNOWN, (kind,)) for code, kind in kinds.items()]
    line = "no answer has what these rules read: MAC tables (CFG003), readings of optics (LNK005, LNK006)"
    assert line in " ".join(section(text(maker.evaluation()), "Could not be evaluated").split())
    detailed = section(text(maker.evaluation(), details=True), "Could not be evaluated")
    assert "? rules LNK005, LNK006: no answer has readings of optics (Optic)" in detailed


def test_an_empty_plan_is_not_fine():
    empty = Summary(0, 0, 0, 0, 0, 0, 0, {})
    evaluation = replace(fabric.clean(), summary=empty, cable_states={})
    assert "? The plan has no cables" in text(evaluation)


def test_details_show_each_finding_with_its_evidence():
    evaluation = fabric.every_cause()
    report = text(evaluation, details=True, width=120)
    for finding in evaluation.findings:
        assert finding.id in report
    assert "leaf-3 reports (lldp_switch, 14:00:05): Neighbor port swp12, system_name gpu-012" in report


@pytest.mark.parametrize("width", [60, 80, 100, 140])
@pytest.mark.parametrize("made", [fabric.every_cause, fabric.hostile, fabric.clean])
def test_no_line_is_wider_than_asked_or_ends_in_blanks(made, width):
    for line in text(made(), width=width, details=True).splitlines():
        assert len(line) <= width
        assert line == line.rstrip()


def test_no_foreign_string_acts_on_the_terminal():
    report = text(fabric.hostile(), details=True)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\ud800-\udfff]", report)
    assert "\\x1b[31mred" in report
    assert "[bold]b[/]" in report


def test_colour_only_on_request_and_only_ours():
    assert "\x1b" not in text(fabric.every_cause())
    colored = text(fabric.hostile(), color=True)
    assert "\x1b[" in colored
    assert "\x1b[31mred" not in colored


def test_ascii_terminals_get_ascii():
    assert text(fabric.every_cause(), ascii=True).isascii()


def test_large_fabrics_stay_short():
    maker = fabric.Maker(2000, 8)
    for host in range(1, 400):
        maker.find(fabric.host_port(host, host % 8), CableState.MISSING, subject=f"gpu-{host:03d}/enp26s0f0np0")
    report = text(maker.evaluation())
    assert len(report.splitlines()) < 80
    assert "1,601 hosts right" in report

"""The HTML report: one file that loads nothing, reads without colour and JavaScript, and lets no foreign string in."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise

import pytest
import report_fabric as fabric

from truerail.model import CableState, CauseKind, Evaluation
from truerail.outputs import report_html
from truerail.outputs.report import Options, render

VOID = {"meta", "input", "br", "hr", "path", "link", "img", "col"}


@dataclass
class Element:
    """One element: its attributes, and all text inside."""

    tag: str
    attributes: dict[str, str]
    texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


class Page(HTMLParser):
    """Every element of a page; fails on a tag that is closed but was not open."""

    def __init__(self, evaluation: Evaluation, *, details: bool = False) -> None:
        super().__init__()
        report = render(evaluation, "html", Options(details=details))
        assert isinstance(report, str)
        self.source = report
        self.elements: list[Element] = []
        self.open: list[Element] = []
        self.feed(report)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append(Element(tag, {key: value or "" for key, value in attrs}))
        if tag not in VOID:
            self.open.append(self.elements[-1])

    def handle_startendtag(self, tag, attrs):
        self.elements.append(Element(tag, {key: value or "" for key, value in attrs}))

    def handle_endtag(self, tag):
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data):
        for element in self.open:
            element.texts.append(data)

    def of(self, tag: str, **attributes: str) -> list[Element]:
        wanted = {key.rstrip("_"): value for key, value in attributes.items()}
        return [e for e in self.elements if e.tag == tag and wanted.items() <= e.attributes.items()]

    def by_id(self, name: str) -> Element:
        (element,) = [e for e in self.elements if e.attributes.get("id") == name]
        return element


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(fabric.every_cause())


@pytest.mark.parametrize("made", [fabric.every_cause, fabric.hostile, fabric.clean])
def test_nothing_is_loaded_from_anywhere(made):
    page = Page(made())
    assert not any(e.tag in {"link", "img", "iframe", "object", "embed", "base", "form", "use"} for e in page.elements)
    assert not any("src" in e.attributes or "srcset" in e.attributes for e in page.elements)
    assert all(e.attributes["href"].startswith("#") for e in page.elements if "href" in e.attributes)
    (style,) = page.of("style")
    assert "url(" not in style.text
    assert "@import" not in style.text


def test_the_policy_lets_nothing_but_our_own_script_run():
    page = Page(fabric.hostile())
    (policy,) = page.of("meta", **{"http-equiv": "Content-Security-Policy"})
    assert "default-src 'none'" in policy.attributes["content"]
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/]{43}='", policy.attributes["content"])
    assert len(page.of("script")) == 1
    assert "alert(1)" not in page.of("script")[0].text


def test_foreign_strings_are_text_and_without_control_characters():
    page = Page(fabric.hostile())
    assert "<script>alert" not in page.source
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\ud800-\udfff]", page.source)
    assert "\\x1b[31mred\\x1b[0m <script>alert(1)</script>" in page.by_id("action").text
    assert not any(name.startswith("on") for e in page.elements for name in e.attributes)


def test_the_verdict_and_every_cause_are_reported(page):
    assert "185 wrong, 1 missing, 4 could not be evaluated; 338 of 528 cables right." in page.of("header")[0].text
    causes = page.of("article", class_="cause")
    assert [cause.attributes["id"] for cause in causes] == [f"C{n}" for n in range(1, 25)]
    assert "Unplug from" in causes[0].text
    assert "leaf-3/swp12 rack N01 unit 33 leaf-1/swp12 rack N01 unit 31" in causes[0].text
    assert "Or gpu-nic-order" in causes[0].text
    assert "To confirm: nvidia-smi topo -m" in causes[0].text


def test_the_punch_list_walks_rack_by_rack_with_a_box_for_each_step(page):
    evaluation = fabric.every_cause()
    racks = [element.text for element in page.of("tr", class_="rack")]
    names = [rack.split(" ")[1] for rack in racks]
    assert names == sorted(names)
    boxes = page.of("input", type="checkbox")
    assert len(boxes) == sum(len(cause.moves) or len(cause.subjects) for cause in evaluation.causes)
    assert len({box.attributes["id"] for box in boxes}) == len(boxes)
    assert all(box.attributes["aria-label"].startswith("Done: ") for box in boxes)


def test_the_matrix_says_in_words_what_colour_shows(page):
    (matrix,) = page.of("table", class_="matrix")
    assert "rail 0 rail 1 rail 2" in matrix.text
    row = next(e for e in page.of("tr") if e.text.startswith("gpu-012 rack A03 unit 28"))
    assert "✗ wrong on rail 3" in row.text
    assert row.text.endswith("C1 C6 C7")
    titles = [e.attributes.get("title", "") for e in page.of("span", class_="cell wrong")]
    assert any(title.endswith("planned leaf-1/swp12, actual leaf-3/swp12") for title in titles)


def test_every_table_header_has_a_scope(page):
    assert page.of("th")
    assert all(header.attributes.get("scope") in {"col", "row", "rowgroup"} for header in page.of("th"))


def test_every_drawing_has_words(page):
    drawings = page.of("svg")
    assert len(drawings) > 8
    assert all(drawing.attributes["role"] == "img" and drawing.attributes["aria-label"] for drawing in drawings)
    assert "gpu-012/enp60s0f0np0: actual leaf-3/swp12, planned leaf-1/swp12." in drawings[1].attributes["aria-label"]


def test_headings_go_down_one_level_at_a_time(page):
    levels = [int(e.tag[1]) for e in page.elements if re.fullmatch(r"h[1-6]", e.tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_every_link_leads_somewhere(page):
    ids = {e.attributes["id"] for e in page.elements if "id" in e.attributes}
    assert {e.attributes["href"][1:] for e in page.of("a")} <= ids


def test_what_could_not_be_evaluated_has_a_section_of_its_own(page):
    doubts = page.by_id("doubts").text
    assert "4 planned cables" in doubts
    assert "No route to host" in doubts
    assert "Rule LNK001: no answer has network interfaces (NetLink)." in doubts


def test_every_finding_is_there_with_its_evidence(page):
    evaluation = fabric.every_cause()
    text = page.by_id("findings").text
    assert all(finding.id in text for finding in evaluation.findings)
    assert "leaf-3 (lldp_switch, 2026-11-20T14:00:05+00:00): Neighbor port swp12, system_name gpu-012" in text


def test_a_clean_fabric_has_nothing_to_do_and_no_doubts():
    page = Page(fabric.clean())
    ids = {e.attributes.get("id") for e in page.elements}
    assert not ids & {"action", "punch", "doubts", "findings"}
    assert "All 528 cables are right." in page.of("header")[0].text
    assert "64 hosts right : gpu-[001-064]" in page.by_id("rails").text


def test_a_large_fabric_shows_so_many_hosts_and_counts_the_rest(monkeypatch):
    monkeypatch.setattr(report_html, "MOST_ROWS", 10)
    maker = fabric.Maker(100, 5)
    for host in range(1, 31):
        for rail in range(5):
            if host >> rail & 1:
                maker.find(fabric.host_port(host, rail), CableState.MISSING)
    text = Page(maker.evaluation()).by_id("rails").text
    assert "Hosts with cables not right (30)" in text
    assert "and 20 more hosts with cables not right" in text
    assert "70 hosts right" in text


def test_hosts_that_look_alike_and_have_the_same_causes_share_a_row(page):
    (matrix,) = page.of("table", class_="matrix")
    assert "gpu-[001-002],gpu-[004-011],gpu-[013-016] 14 hosts" in matrix.text
    assert "gpu-[033-034] 2 hosts" in matrix.text


def test_devices_without_an_answer_share_one_line_of_the_punch_list():
    maker = fabric.Maker()
    for host in (*range(3, 9), 60):
        found = maker.find(fabric.host_port(host, 0), CableState.UNKNOWN, subject=f"gpu-{host:03d}", rule="TEL001")
        maker.because(CauseKind.UNREACHABLE, [found.subject], [found], action="Power the host.")
    page = Page(maker.evaluation())
    (number,) = page.of("td", class_="step-number")
    assert number.text == "1, 2, 3, 4, 5, 6, 7"
    assert "gpu-[003-008],gpu-060 : Power the host." in page.by_id("punch").text


def test_evidence_is_folded_unless_details_are_asked_for(page):
    evaluation = fabric.every_cause()
    groups = len({evaluation.cause_of.get(finding.id, "") for finding in evaluation.findings})
    evidence = sum(bool(finding.evidence) for finding in evaluation.findings)
    folded = page.of("details")
    assert len(folded) == groups + evidence
    assert [e.text.partition(" Finding")[0] for e in folded if "open" in e.attributes] == ["Without a cause 1 finding"]
    assert all("open" in e.attributes for e in Page(evaluation, details=True).of("details"))


def test_dark_and_print_are_styled(page):
    (style,) = page.of("style")
    assert "prefers-color-scheme: dark" in style.text
    assert "@media print" in style.text

"""The runbooks: their form, and the first command of each, run against a service and against captures. It ends as the
questions of on-call do, prints what the page shows, and the page has a branch for what it prints.
"""

import re
import socket
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dashboards.generate import ROOT
from dashboards.outputs.examples import Example, examples, first_example, words
from dashboards.outputs.runbooks import MOST_LINES
from rules import rules
from tests.draws import draws
from tests.each import each
from tests.metrics_pages import with_traffic
from tests.oncall_fabrics import PLANES, PODS, RAIL_ONLY, SPINES, simulated
from tests.page_site import Site, publication
from tests.real import require
from truerail.analysis.published import CollectorRun, JournalHealth, JournalState, Published
from truerail.analysis.round import Round
from truerail.analysis.rule import Rule
from truerail.cli.app import app
from truerail.model import CauseKind, Finding, Severity
from truerail.model.finding import Status
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape

PAGES = sorted((ROOT / "docs/runbooks").glob("*.md"))
RUNBOOKS = [page for page in PAGES if page.stem != "README"]
HEADINGS = ["Meaning", "Impact", "First command", "Decide", "Fix", "Verify", "False positives"]
RULES = list(rules().values())
FABRICS: tuple[tuple[Shape, Fault], ...] = (
    *((SPINES, Fault(kind)) for kind in (CauseKind.LEAF_SWAP, CauseKind.BUNDLE_SWAP, CauseKind.CABLE_ROTATION)),
    *((SPINES, Fault(CauseKind.HOST_SWAP, variant)) for variant in ("labels", "bundles")),
    *((SPINES, Fault(CauseKind.PORT_SHIFT, variant)) for variant in ("spare", "cyclic")),
    *((SPINES, Fault(CauseKind.CABLE_SWAP, variant)) for variant in ("one-host", "one-leaf", "across", "uplinks")),
    *((SPINES, Fault(CauseKind.CABLE_MOVE, variant)) for variant in ("one-leaf", "other-leaf")),
    *((SPINES, Fault(CauseKind.LINK_DOWN, variant)) for variant in ("host", "uplink")),
    *((RAIL_ONLY, Fault(kind)) for kind in (CauseKind.CABLE_SWAP, CauseKind.LINK_DOWN)),
    (RAIL_ONLY, Fault(CauseKind.CABLE_MOVE, "other-leaf")),
    (PODS, Fault(CauseKind.HOST_SWAP, "labels")),
    (PLANES, Fault(CauseKind.CABLE_SWAP, "one-host")),
    *((replace(SPINES, hosts=16, trunk=4), Fault(kind)) for kind in (CauseKind.TRUNK_SWAP, CauseKind.PANEL_SHIFT)),
    (SPINES, Fault(CauseKind.UNREACHABLE)),
)
"""Simulated fabrics with the faults that most runbooks about cables decide on."""
FINDINGS = draws(1, 2)
"""Findings of one rule and severity that are asked for on such a fabric."""
ASKED = draws(1, 1000)
"""Examples of one rule that the service is asked about; what the command prints of the others is made here."""


@each("page", RUNBOOKS, ids=lambda page: page.stem)
def test_a_runbook_is_short_and_has_its_sections(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_LINES
    assert max(map(len, prose(lines))) <= 120
    assert [line.removeprefix("## ") for line in lines if line.startswith("## ")] == HEADINGS
    assert 3 <= len(branches(page.read_text(encoding="utf-8"))) <= 6
    assert "```console\n$ " in page.read_text(encoding="utf-8")


def test_each_rule_has_its_runbook() -> None:
    assert set(rules()) <= {page.stem for page in PAGES}


def prose(lines: list[str]) -> Iterator[str]:
    """The lines outside of blocks of code."""
    code = False
    for line in lines:
        code ^= line.startswith("```")
        if not code:
            yield line


def branches(text: str) -> list[tuple[str, ...]]:
    """What each branch of a page, or of a rule's text, decides on: the words in backticks before its colon."""
    items = re.split(r"^- ", text.partition("\n## Decide\n")[2].partition("\n## ")[0], flags=re.MULTILINE)[1:]
    heads = [re.match(r"(?:`[^`]*`|[^`:])*", item) for item in items]
    return [tuple(re.findall(r"`([^`]+)`", head[0])) for head in heads if head]


def occurs(pattern: str, output: str) -> bool:
    """Whether a branch's words stand in an output, however its lines are broken. `N` is any number."""
    words = re.escape(" ".join(pattern.split())).replace(r"\ ", r"\s+")
    return bool(re.search(re.sub(r"(?<!\w)N(?!\w)", r"\\d[\\d,.]*", words), output))


def run(*command: str) -> str:
    """What a command prints; it must end as a question does: right (0), or not (1)."""
    done = CliRunner().invoke(app, list(command), env={"COLUMNS": "100", "TRUERAIL_URL": "", "TRUERAIL_TOKEN": ""})
    assert done.exit_code in (0, 1), done.output
    return done.stdout


@pytest.fixture(scope="module")
def service() -> Iterator[Site]:
    with Site(None) as site:
        yield site


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[Severity, str]]]:
    """By rule, how severe findings are on captures of the fabrics, and what its first command prints for them."""
    outputs: dict[str, list[tuple[Severity, str]]] = {}
    for shape, fault in FABRICS:
        simulation = simulated(shape, fault)
        folder = tmp_path_factory.mktemp("fabric")
        capture, plan = simulation.write(folder), folder / "plan.csv"
        for finding in few(evaluate(Round(simulation.plan, simulation.snapshot())).findings):
            command = words(rules()[finding.rule], finding.subject)
            if command[0] == "where":
                printed = run(*command, "--from", str(capture), "--plan", str(plan))
                outputs.setdefault(finding.rule, []).append((finding.severity, printed))
    return outputs


def few(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The first findings of each rule and severity."""
    counted: Counter[tuple[str, Severity]] = Counter()
    for finding in findings:
        counted[finding.rule, finding.severity] += 1
        if counted[finding.rule, finding.severity] <= FINDINGS:
            yield finding


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_first_command_is_decided_by_the_runbook_and_the_page_shows_lines_of_its_output(
    rule: Rule, service: Site, captured: dict[str, list[tuple[Severity, str]]]
) -> None:
    found = list(examples(rule))
    assert found
    shows_lines(rule, first_example(rule, found))
    outputs = list(captured.get(rule.code, []))
    for number, example in enumerate(found):
        output = example.output
        outputs.append((example.finding.severity, output))
        if number < ASKED:
            service.action(partial(setattr, service.tower, "publication", example.publication))
            assert untimed(run(*example.words, "--service", service.url)) == untimed(output)
    decided(rule, outputs)


def untimed(text: str) -> str:
    """Without what a service knows and an example does not: since when."""
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME", text).strip()


def decided(rule: Rule, outputs: list[tuple[Severity, str]]) -> None:
    """Each output has a branch, and each branch an output."""
    known = [pattern for branch in branches(rule.explanation) for pattern in branch]
    loud = [Severity.INFO] if rule.severity is Severity.INFO else [Severity.CRITICAL, Severity.WARNING]
    for severity, output in outputs:
        if severity in loud:
            assert any(occurs(pattern, output) for pattern in known), f"no branch of {rule.code} is for\n{output}"
    for pattern in known:
        assert any(occurs(pattern, output) for _, output in outputs), f"{rule.code}: `{pattern}` is printed nowhere"


def shows_lines(rule: Rule, example: Example) -> None:
    """The page has the command of an example, and nothing below that it does not print."""
    text = (ROOT / f"docs/runbooks/{rule.code}.md").read_text(encoding="utf-8")
    block = text.partition("```console\n")[2].partition("\n```")[0].splitlines()
    assert block[0] == f"$ truerail {' '.join(example.words)}"
    assert set(block[1:]) - {"..."} <= set(example.output.splitlines())


def ill() -> Published:
    """An evaluation of a service in trouble: a collector that fails, a rule that ends in an error, no database."""
    simulation = simulated(PODS)
    made = with_traffic(publication(simulation.plan, simulation.snapshot()))
    broken = replace(made.evaluation.verdicts[0], status=Status.ERROR)
    return replace(
        made,
        evaluated=replace(
            made.evaluated, evaluation=replace(made.evaluation, verdicts=(broken, *made.evaluation.verdicts[1:]))
        ),
        runs={"lldp_host": CollectorRun("lldp_host", 60, made.evaluation.at, 84.2, 16, 0, 4, 2, 17)},
        journal=JournalState(JournalHealth.FAILING, "database or disk is full", waiting=12, lost_total=3),
    )


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Addresses: of a service that has just started, one that is well, one in trouble, and two that do not answer."""
    simulation = simulated(SPINES)
    with (
        Site(None) as fresh,
        Site(publication(simulation.plan, simulation.snapshot())) as well,
        Site(ill()) as bad,
        socket.create_server(("127.0.0.1", 0)) as hung,
        socket.create_server(("127.0.0.1", 0)) as gone,
    ):
        waiting = {
            f"notifications_{name}": 3.0 for name in ("sent_total", "failed_total", "lost_total", "queue_length")
        }
        failed = {"evaluations_failed_total": 4.0, "full_parse_differences_total": 2.0, "view_age_seconds": 312.4}
        bus = {"connected": 0.0, "reconnects_total": 2.0, "store_losses_total": 1.0, "other_schema_total": 2.0}
        bus |= {"zones_without_poller": 1.0, "copies_missing": 2.0}
        roles = {f"bus_{name}": value for name, value in bus.items()}
        roles |= {"pollers": 3.0, "pollers_running": 2.0, "poller_restarts_total": 4.0}
        well.action(lambda: well.tower.counters.update({"judge_leader": 1.0, "judge_epoch": 7.0}))
        probe = {"runs_total": 41.0, "runs_failed_total": 4.0, "packets_total": 71340.0, "interval_seconds": 600.0}
        probe |= {"duration_seconds": 21.4, "age_seconds": 2411.0}
        roles |= {f"probe_{name}": value for name, value in probe.items()}
        bad.action(lambda: bad.tower.counters.update(failed | waiting | roles))
        closed = gone.getsockname()[1]
        gone.close()
        yield [fresh.url, well.url, bad.url, f"http://127.0.0.1:{hung.getsockname()[1]}", f"http://127.0.0.1:{closed}"]


@pytest.mark.parametrize("page", [page for page in RUNBOOKS if page.stem not in rules()], ids=lambda page: page.stem)
def test_the_first_command_on_truerail_itself_is_decided(page: Path, services: list[str]) -> None:
    require("sh", "curl", "grep")
    text = page.read_text(encoding="utf-8")
    shown = text.partition("```console\n$ ")[2].partition("\n```")[0]
    command, _, sample = shown.partition("\n")
    if not command.startswith("curl"):
        return
    asked = services if "-m 5" in command else services[:3]
    outputs = [shell(command.replace("http://127.0.0.1:8080", url)) for url in asked]
    patterns = [pattern for branch in branches(text) for pattern in branch]
    for pattern in patterns:
        assert any(pattern in output for output in outputs), f"`{pattern}` is printed nowhere: {outputs}"
    for line in sample.splitlines():
        metric = re.match(r"truerail_\w+", line)
        shown = metric[0] if metric else line.partition(" port ")[0].partition(": database")[0]
        assert any(shown in output for output in outputs), shown


def shell(command: str) -> str:
    """What a shell prints, results and complaints."""
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=60)
    return done.stdout + done.stderr


def test_an_uneven_rail_is_decided_by_its_leaf(captured: dict[str, list[tuple[Severity, str]]]) -> None:
    """The leaf's own page of `where`: cables, then causes."""
    text = (ROOT / "docs/runbooks/TruerailRailUneven.md").read_text(encoding="utf-8")
    outputs = [output for found in captured.values() for _, output in found]
    left = {pattern for branch in branches(text) for pattern in branch}
    printed = (one.output for code in ("LBL001", "CAP001", "ECN001") for one in examples(rules()[code]))
    for output in chain(outputs, printed):
        left -= {pattern for pattern in left if occurs(pattern, output)}
        if not left:
            break
    assert not left

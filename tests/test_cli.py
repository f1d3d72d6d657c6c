"""The command line as a user has it: exit codes, what goes to stdout and what to stderr; in processes of its own where
it depends on them.
"""

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import pytest
from jsonschema import Draft202012Validator

import truerail
from tests.each import each
from truerail.cli import run as cli_run
from truerail.cli import terminal_output
from truerail.errors import CommandError
from truerail.model import CauseKind
from truerail.simulator import Fault, Shape, simulate

INTERFACE = {
    "name": "enp1s0",
    "via": "LLDP",
    "chassis": [{"id": [{"type": "mac", "value": "02:00:00:00:00:01"}], "name": [{"value": "leaf-0"}]}],
    "port": [{"id": [{"type": "ifname", "value": "swp1"}], "ttl": [{"value": "120"}]}],
}
LLDP = json.dumps({"lldp": [{"interface": [INTERFACE]}]})
PLAN_HEADER = "a_device,a_role,a_port,b_device,b_role,b_port,rail,plane,speed_gbps\n"


class Done(NamedTuple):
    """How a command line ended."""

    returncode: int
    stdout: str
    stderr: str


def process(*words: str | Path, given: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """`truerail WORDS` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "truerail", *map(str, words)],
        input=given,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "NO_COLOR": "", "COLUMNS": "100", **env},
        check=False,
    )


def python(code: str) -> subprocess.CompletedProcess[str]:
    """A program in a process of its own."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)


def run(*words: str | Path, given: str = "", cwd: Path | None = None) -> Done:
    """`truerail WORDS` in this process, with streams of its own."""
    stdin, stdout, stderr = (io.TextIOWrapper(io.BytesIO(text), "utf-8") for text in (given.encode(), b"", b""))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["truerail", *map(str, words)])
        patch.setattr(sys, "stdin", stdin)
        patch.setattr(sys, "stdout", stdout)
        patch.setattr(sys, "stderr", stderr)
        patch.setenv("NO_COLOR", "")
        patch.setenv("COLUMNS", "100")
        patch.chdir(cwd or Path.cwd())
        with pytest.raises(SystemExit) as ended:
            cli_run.main()
    return Done(int(ended.value.code or 0), *(_text(stream) for stream in (stdout, stderr)))


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def fabric(path: Path, faults: Sequence[Fault] = (), hosts: int = 4, rails: int = 2) -> tuple[str, str, str, str]:
    """The options that check a simulated fabric."""
    capture = simulate(Shape(hosts=hosts, rails=rails, spines=2, uplinks=2), list(faults), seed=3).write(path)
    return "--plan", str(path / "plan.csv"), "--from", str(capture)


@pytest.fixture(scope="module")
def swapped(tmp_path_factory) -> tuple[str, str, str, str]:
    return fabric(tmp_path_factory.mktemp("swapped"), [Fault(CauseKind.CABLE_SWAP, "one-host")])


@pytest.fixture(scope="module")
def right(tmp_path_factory) -> tuple[str, str, str, str]:
    return fabric(tmp_path_factory.mktemp("right"))


def test_the_version_of_a_process_and_its_code_of_bad_usage():
    done = process("--version")
    assert (done.returncode, done.stdout.strip()) == (0, f"truerail {truerail.__version__}")
    assert process("nonsense").returncode == 2


def test_help_names_every_command_and_the_exit_codes():
    done = run("--help")
    assert done.returncode == 0
    for word in ("check", "demo", "parse", "plan", "rules", "Exit codes: 0"):
        assert word in done.stdout


@pytest.mark.parametrize("module", ["truerail.cli", "truerail.cli.exit_codes", "typer"])
def test_ctrl_c_while_the_program_loads_prints_nothing(module):
    """A signal at the moment of an import, early and late: no traceback."""
    code = (
        "import builtins, os, runpy, signal\n"
        "real = builtins.__import__\n"
        "def interrupted(name, *rest, **named):\n"
        f"    if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "    return real(name, *rest, **named)\n"
        "builtins.__import__ = interrupted\n"
        "runpy.run_module('truerail', run_name='__main__')"
    )
    done = python(code)
    assert (done.returncode in (-signal.SIGINT, 130), done.stdout, done.stderr) == (True, "", "")


def test_help_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['truerail', '--help']\n"
        "from truerail.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'numpy', 'pandas', 'rich', 'jinja2', 'yaml', 'openpyxl'} & set(sys.modules)), file=sys.stderr)"
    )
    done = python(code)
    assert done.stderr.strip() == "[]"


def test_check_imports_no_other_formats_library_and_says_nothing_on_stderr(swapped):
    code = (
        f"import sys; sys.argv = ['truerail', 'check', *{list(swapped)!r}]\n"
        "from truerail.cli import main\n"
        "try: main()\n"
        "finally: print(sorted({'pandas', 'jinja2', 'openpyxl'} & set(sys.modules)), file=sys.stderr)"
    )
    done = python(code)
    assert (done.returncode, done.stderr) == (1, "[]\n")
    assert "C1   cable-swap" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_right_fabric_is_exit_0_and_says_so(right):
    done = run("check", *right)
    assert (done.returncode, done.stderr) == (0, "")
    assert "cables are right." in done.stdout


def test_json_fits_the_shipped_schema_and_names_the_swap(swapped):
    done = run("check", *swapped, "--format", "json")
    reported = json.loads(done.stdout)
    Draft202012Validator(json.loads((files("truerail.outputs") / "check.schema.json").read_text("utf-8"))).validate(
        reported
    )
    assert done.returncode == 1
    assert [cause["kind"] for cause in reported["causes"]] == ["cable-swap"]
    assert len(reported["causes"][0]["moves"]) == 2


@pytest.mark.parametrize(
    ("suffix", "begins"),
    [
        (".txt", b"4x2"),
        (".json", b"{\n"),
        (".csv", b"id,rule,"),
        (".xlsx", b"PK"),
        (".xml", b"<?xml"),
        (".html", b"<!doctype html>"),
    ],
)
def test_the_format_follows_the_name_of_the_output(swapped, tmp_path, suffix, begins):
    target = tmp_path / f"report{suffix}"
    done = run("check", *swapped, "--output", target)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"Report: {target}" in done.stderr
    assert target.read_bytes().startswith(begins)


def test_fail_on_decides_between_0_and_1(tmp_path):
    options = fabric(tmp_path, [Fault(CauseKind.CABLE_SWAP, "one-leaf")])
    severities = {f["severity"] for f in json.loads(run("check", *options, "--format", "json").stdout)["findings"]}
    assert severities == {"warning"}
    assert run("check", *options, "--fail-on", "critical").returncode == 0
    assert run("check", *options, "--fail-on", "warning").returncode == 1


def test_only_narrows_what_is_reported(swapped):
    reported = json.loads(run("check", *swapped, "--format", "json").stdout)
    host = reported["findings"][0]["subject"].partition("/")[0]
    others = ",".join(name for name in ("gpu-001", "gpu-002", "gpu-003", "gpu-004") if name != host)
    done = run("check", *swapped, "--format", "json", "--only", others)
    assert done.returncode == 0
    assert json.loads(done.stdout)["summary"]["hosts"] == 3
    done = run("check", *swapped, "--format", "json", "--only", host)
    assert done.returncode == 1
    assert len(json.loads(done.stdout)["causes"][0]["moves"]) == 2


def test_rule_limits_the_rules_by_code_or_name(swapped):
    done = run("check", *swapped, "--format", "json", "--rule", "tel001", "--rule", "speed_mismatch")
    assert [verdict["rule"] for verdict in json.loads(done.stdout)["verdicts"]] == ["LNK001", "TEL001"]
    assert done.returncode == 0


def test_without_a_plan_the_rails_are_inferred_and_that_is_said(tmp_path):
    options = fabric(tmp_path, hosts=8, rails=4)
    done = run("check", *options[2:])
    assert done.returncode == 0
    assert "No plan is given" in done.stdout
    assert json.loads(run("check", *options[2:], "--format", "json").stdout)["plan_inferred"] is True


def test_a_bad_plan_is_reported_problem_by_problem(tmp_path, right):
    plan = tmp_path / "plan.csv"
    plan.write_text(PLAN_HEADER + "h1,host,nic0,leaf-0,leaf,swp1,zero,,400\nh1,hst,nic1,leaf-1,leaf,swp1,1,,400\n")
    done = run("check", "--plan", plan, *right[2:])
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{plan}:2:" in done.stderr
    assert f"{plan}:3:" in done.stderr


@each(
    "words, summary",
    [
        ("check {plan} {capture} --output {folder}/no/folder.json", "cannot be written"),
        ("check {plan} {capture} --only gpu-0O1", "did you mean 'gpu-001'"),
        ("check {plan} {capture} --only gpu-[4-1]", "runs backwards"),
        ("check {plan} {capture} --only nothing-like-it", "no device"),
        ("check {plan} {capture} --rule PFC01", "did you mean PFC001"),
        ("check {plan} --from {folder}/nowhere", "nowhere"),
        ("check --plan {folder}/plan.txt {capture}", "plan.txt"),
        ("check --plan {folder}/missing.csv {capture}", "missing.csv"),
        ("check", "Usage:"),
        ("check --from . --format pdf", "Usage:"),
        ("nonsense", "Usage:"),
        ("plan new --hosts x", "Usage:"),
        ("plan new --rails 0", "rails is 0"),
        ("parse lldp_hots", "did you mean 'lldp_host'"),
        ("rules explain nic_on_wrong_rial", "did you mean nic_on_wrong_rail"),
        ("demo --output {folder}/demo --fault cable-swop", "did you mean 'cable-swap'"),
        ("demo --output {folder}/demo --fault cable-swap:sideways", "no variant 'sideways'"),
        ("demo --output {folder}/demo --hosts 1 --rails 1 --fault host-swap", "too few"),
    ],
)
def test_what_cannot_be_done_is_exit_2_and_says_why(words, summary, right, tmp_path):
    (tmp_path / "plan.txt").write_text("hello")
    filled = words.format(plan=" ".join(right[:2]), capture=" ".join(right[2:]), folder=tmp_path)
    done = run(*filled.split(), given="{}")
    assert (done.returncode, done.stdout) == (2, "")
    assert summary in done.stderr


def test_a_capture_in_which_nothing_could_be_read_is_exit_2_and_reported(right, tmp_path):
    folder = tmp_path / "capture" / "gpu-001"
    folder.mkdir(parents=True)
    (folder / "rdma_link").write_text("bash: rdma: command not found\n")
    done = run("check", *right[:2], "--from", tmp_path / "capture")
    assert done.returncode == 2
    assert "nothing was evaluated" in done.stderr
    assert "could not be evaluated" in done.stdout


def test_parse_prints_facts_from_stdin():
    done = process("parse", "lldp_host", given=LLDP)
    (fact,) = json.loads(done.stdout)
    assert done.returncode == 0
    assert (fact["port"], fact["system_name"], fact["port_id"]) == ("enp1s0", "leaf-0", "swp1")


def test_parse_reads_a_file(tmp_path):
    (tmp_path / "answer").write_text("link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev enp26s0f0np0\n")
    (fact,) = json.loads(run("parse", "rdma_link", tmp_path / "answer").stdout)
    assert (fact["device"], fact["port"], fact["state"], fact["netdev"]) == ("mlx5_0", 1, "ACTIVE", "enp26s0f0np0")


def test_parse_reads_what_powershell_redirected(tmp_path):
    (tmp_path / "answer").write_bytes(LLDP.encode("utf-16"))
    assert run("parse", "lldp_host", tmp_path / "answer").stdout == run("parse", "lldp_host", given=LLDP).stdout


def test_parse_refuses_what_it_cannot_read_with_exit_2(tmp_path):
    done = run("parse", "rdma_link", given="bash: rdma: command not found\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert "line 1: the device refused" in done.stderr
    done = run("parse", "rdma_link", tmp_path / "absent")
    assert (done.returncode, done.stdout) == (2, "")


def test_hostile_answers_do_not_act_on_the_terminal():
    done = run("parse", "rdma_link", given="\x1b[2J\x1b]0;owned\x07 link?\n")
    assert done.returncode == 2
    assert "\x1b" not in done.stderr
    done = run("parse", "lldp_host", given=LLDP.replace("leaf-0", "\\u001b[2J\\u202e"))
    assert "\x1b" not in done.stdout
    assert json.loads(done.stdout)[0]["system_name"] == "\x1b[2J\u202e"


def test_a_new_plan_lints_clean_shows_and_converts_there_and_back(tmp_path):
    plan = tmp_path / "plan.yaml"
    assert run("plan", "new", "--hosts", "64", "--spines", "8", "--uplinks", "32", "--output", plan).returncode == 0
    shown = run("plan", "show", plan)
    assert "bisection bandwidth: 12.8 TB/s" in shown.stdout
    assert "2.00:1" in shown.stdout
    assert run("plan", "show", plan, "--format", "svg").stdout.lstrip().startswith("<svg")
    assert run("plan", "lint", plan, "--fail-on", "critical").returncode == 0
    csv, again = tmp_path / "plan.csv", tmp_path / "again.yaml"
    assert run("plan", "convert", plan, "--output", csv).returncode == 0
    assert run("plan", "convert", csv, "--output", again).returncode == 0
    assert run("plan", "convert", again).stdout == csv.read_text()
    assert run("plan", "convert", csv, "--to", "dot").stdout.startswith("graph")


def test_plan_lint_tells_what_is_wrong_with_exit_1(tmp_path):
    plan = tmp_path / "plan.csv"
    plan.write_text(PLAN_HEADER + "h1,host,nic0,leaf-0,leaf,swp1,0,,400\nh2,host,nic0,leaf-0,leaf,swp1,0,,400\n")
    done = run("plan", "lint", plan)
    assert done.returncode == 1
    assert f"{plan}:3:" in done.stdout
    assert "critical" in done.stdout


def test_plan_infer_writes_a_plan_that_finds_nothing_wrong(tmp_path):
    options = fabric(tmp_path / "fabric", hosts=8, rails=4)
    plan = tmp_path / "inferred.yaml"
    done = run("plan", "infer", *options[2:], "--output", plan)
    assert done.returncode == 0
    assert "8 of 8" in done.stderr
    assert run("check", "--plan", plan, *options[2:]).returncode == 0


def test_rules_list_has_a_line_for_each_rule():
    from rules import rules

    lines = run("rules", "list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(rules())


def test_rules_explain_shows_headings_and_examples_by_code_and_name():
    by_code, by_name = run("rules", "explain", "CAB001"), run("rules", "explain", "nic_on_wrong_rail")
    assert by_code.returncode == 0
    assert by_code.stdout == by_name.stdout
    for words in ("# CAB001", "## Why it matters", "## What to do", "- **Fires**: ", "- **Quiet**: "):
        assert words in by_code.stdout
    assert "gpu-1/nic0 leaf-0/" not in by_code.stdout


def test_rules_explain_shows_the_examples_in_full_on_demand():
    done = run("rules", "explain", "CAB001", "--examples")
    assert done.returncode == 0
    for words in ("**Fires**: ", "plan     ", "answers  leaf-0: Neighbor(", "finds    nothing"):
        assert words in done.stdout


def test_demo_makes_checks_reports_and_can_run_again(tmp_path):
    for _ in range(2):
        done = run("demo", "--once", "--hosts", "8", "--rails", "4", "--fault", "cable-swap:one-host", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "C1   cable-swap" in done.stdout
        assert "truerail check --plan truerail-demo/plan.csv --from truerail-demo/capture --details" in done.stdout
        assert (tmp_path / "truerail-demo" / "report.html").read_text().startswith("<!doctype html>")
    checked = run("check", "--plan", "truerail-demo/plan.csv", "--from", "truerail-demo/capture", cwd=tmp_path)
    assert checked.returncode == 1
    assert "C1   cable-swap" in checked.stdout


def test_demo_never_touches_a_folder_that_is_not_its_own(tmp_path):
    precious = tmp_path / "capture" / "precious"
    precious.parent.mkdir()
    precious.write_text("keep")
    done = run("demo", "--output", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "not made by a demo" in done.stderr
    assert precious.read_text() == "keep"


def test_a_reader_that_goes_away_is_no_error(swapped):
    line = f"{sys.executable} -m truerail check {' '.join(swapped)} --details | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert len(done.stdout.splitlines()) == 1


def test_colour_and_width_on_a_terminal(swapped):
    main_end, other_end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "truerail", "check", *swapped],
        stdout=other_end,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TERM": "xterm-256color", "NO_COLOR": "", "COLUMNS": "70"},
    )
    os.close(other_end)
    seen = b""
    while True:
        try:
            part = os.read(main_end, 65536)
        except OSError:  # Linux says EIO when the other end is closed
            break
        if not part:
            break
        seen += part
    os.close(main_end)
    assert process.wait(60) == 1
    assert b"\x1b[1;31m" in seen
    assert max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in seen.decode().splitlines()) <= 70


def test_what_is_drawn_while_it_works_hides_no_cursor(monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with terminal_output.progress("reading"), terminal_output.working("sorting"):
        pass
    shown = capsys.readouterr().err
    assert ("reading" in shown, "sorting" in shown, "\x1b[?25" in shown) == (True, True, False)


def test_a_terminal_without_unicode_gets_ascii(swapped):
    done = process("check", *swapped, PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0")
    assert done.returncode == 1
    assert done.stdout.isascii()
    assert "x 2 wrong" in done.stdout


def test_a_bug_is_exit_3_names_the_place_and_hides_the_traceback(monkeypatch, capsys):
    def broken(**_: object) -> None:
        raise KeyError("mlx5_9\x1b[2J")

    monkeypatch.setattr("truerail.cli.app.app", broken)
    monkeypatch.delenv("TRUERAIL_DEBUG", raising=False)
    with pytest.raises(SystemExit) as ended:
        cli_run.main()
    said = capsys.readouterr().err
    assert ended.value.code == 3
    assert "a bug" in said
    assert "KeyError" in said
    assert "test_cli.py" in said
    assert "Traceback" not in said
    assert "\x1b" not in said
    monkeypatch.setenv("TRUERAIL_DEBUG", "1")
    with pytest.raises(SystemExit):
        cli_run.main()
    assert "Traceback (most recent call last)" in capsys.readouterr().err


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (CommandError("no\nway"), 2)])
def test_interrupts_and_refusals_have_their_codes(monkeypatch, capsys, error, code):
    def raises(**_: object) -> None:
        raise error

    monkeypatch.setattr("truerail.cli.app.app", raises)
    with pytest.raises(SystemExit) as ended:
        cli_run.main()
    assert ended.value.code == code
    assert capsys.readouterr().err == ("truerail: no\ntruerail: way\n" if code == 2 else "")

"""The commands that the documentation shows: run as a reader would run them, in a folder with a simulated fabric and
against a service that is started here. Those of a block marked `<!-- not run: WHY -->` are parsed by the real command
line.
"""

import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.demo_process import ready, running
from tests.docs_blocks import GUIDES, ROOT, SHELL, Block, blocks, inline_code, prose
from tests.docs_site import Site, check_options, give, parse, same, words_of
from tests.each import each
from tests.lab.__main__ import _parser as lab_parser
from tests.live_site import runner
from tests.real import require

REASONS = {
    *("needs root", "needs a machine to install on", "needs hosts to log in to", "needs a running scheduler"),
    "goes on until it is ended",
}
"""Why a block is not run."""
OTHERS = frozenset(
    re.findall(
        r"[\w-]+",
        "amtool ansible-playbook cd chmod cp curl do docker done echo for groupadd helm install kubectl mkdir openssl"
        " pip pipx prometheus prometheus-alertmanager promtool python3 rm ssh systemctl udevadm useradd uv",
    )
)
"""What else may be called where nothing is run: it is somebody else's, or the shell's."""
BROUGHT = {
    "amtool": "`amtool`", "ansible-playbook": "ansible", "docker": "compose", "helm": "helm chart",
    "kubectl": "kubernetes", "pipx": "[pipx]",
    "prometheus": "`prometheus`", "prometheus-alertmanager": "`prometheus-alertmanager`", "promtool": "`promtool`",
    "uv": "[uv]",
}  # fmt: skip
"""Tools that a machine with Python, make and git need not have, and how a page names each before it calls it."""
TARGETS = frozenset(re.findall(r"^(\w[\w-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
FOLLOWED = [page for page in GUIDES if any(block.language in SHELL and not block.not_run for block in blocks(page))]
NOT_RUN = [block for page in GUIDES for block in blocks(page) if block.language in SHELL and block.not_run]
LANGUAGES = {*SHELL, "text", "yaml", "json", "promql", "nginx", "csv", "python"}
COMMAND = re.compile(r"^ *(?:\$ |\.venv/bin/|sudo |truerail [a-z]|make [a-z]|curl |docker |kubectl )", re.MULTILINE)


def named(page: Path) -> str:
    """A page as pytest shows it."""
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], str]]:
    """Gives the address of a real service on a simulated fabric, which the first command that asks one starts."""
    with ExitStack() as stack:

        @cache
        def address() -> str:
            folder = tmp_path_factory.mktemp("service") / "demo"
            _, url = stack.enter_context(running(folder, "--quiet", round_seconds=60, history=True))
            assert ready(url)
            return url.rstrip("/")

        yield address


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The files that each reader begins with."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield give(tmp_path_factory.mktemp("given"), monkeypatch)


@pytest.mark.parametrize("page", FOLLOWED, ids=named)
def test_a_reader_who_follows_the_page_gets_what_it_shows(
    page: Path,
    given: Path,
    tmp_path: Path,
    service: Callable[[], str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    require("curl", "jq", "make", "sh")
    site = Site(given, tmp_path, runner(monkeypatch, capsys), service, monkeypatch)
    for block in blocks(page):
        if not block.not_run:
            site.follow(block)


def test_the_guides_of_the_first_day_are_run() -> None:
    assert {"README.md", "docs/first-hour.md", "docs/day-1.md", "docs/on-call.md"} <= set(map(named, FOLLOWED))


@each("block", NOT_RUN, ids=lambda block: block.where)
def test_what_is_not_run_exists(block: Block) -> None:
    require("sh")
    assert block.not_run in REASONS
    subprocess.run(["sh", "-n", "-c", block.text], check=True)
    for line in _expanded(block.lines):
        _exists(line, block.where)


def _expanded(lines: list[str]) -> Iterator[str]:
    """The lines with the variables that they set put in; the settings themselves are left out."""
    known: dict[str, str] = {}
    for line in lines:
        full = re.sub(r"\$(\w+)", lambda found: known.get(found[1], found[0]), line)
        if setting := re.fullmatch(r'(\w+)="?([^"]*)"?', full):
            known[setting[1]] = setting[2]
        else:
            yield full


def goes_on(line: str) -> bool:
    """Whether a command does not end by itself, so that nothing after it would be run."""
    endless = re.match(
        r"(?:sudo )?(?:\.venv/bin/|/opt/truerail/bin/)?"
        r"(?:truerail (?:serve|watch|demo)\b|make demo\b|curl -\w*N|prometheus|docker compose up\b)",
        line,
    )
    return bool(endless) and not re.search(r"--(?:check|rounds|once|detach)\b|&$", line)


def _exists(line: str, where: str) -> None:
    """Fails for a line that is neither parsed by what would run it nor somebody else's."""
    if words := words_of(line):
        parse(words, where)
    elif ours := re.match(r"(?:sudo )?\.venv/bin/python -m ([\w.]+) (.*)", line):
        assert find_spec(ours[1]), f"{where}: there is no module {ours[1]}"
        if ours[1] == "tests.lab":
            lab_parser().parse_args(shlex.split(ours[2]))
    elif make := re.match(r"(?:sudo )?make (\w+)", line):
        assert make[1] in TARGETS, f"{where}: the Makefile has no target {make[1]}"
    else:
        program = line.split()[0].rpartition("/")[2]
        assert program in OTHERS, f"{where}: `{line}` is neither run nor parsed"


@each("page", GUIDES, ids=named)
def test_no_command_hides_where_nobody_looks(page: Path) -> None:
    for block in blocks(page):
        assert block.language in LANGUAGES, f"{block.where}: a fence says its language, one of {sorted(LANGUAGES)}"
        if block.language not in SHELL:
            assert not COMMAND.search(block.text), f"{block.where}: a command in a block of {block.language}"
    indented = "\n".join(line for line in prose(page).splitlines() if line.startswith("    "))
    assert not COMMAND.search(indented), "a command outside of a block of sh or console"


@each("page", GUIDES, ids=named)
def test_a_block_can_be_pasted_as_it_stands(page: Path) -> None:
    """What goes on until it is ended is the last command of its block, and a tool is named before it is called."""
    before = page.read_text().splitlines()
    for block in blocks(page):
        if block.language in SHELL:
            commands = [command for command, _ in block.sessions] if block.language == "console" else block.lines
            assert [line for line in commands[:-1] if goes_on(line)] == [], block.where
            known = "\n".join(before[: block.line]).lower()
            tools = {word for line in commands if (word := line.split()[0]) in BROUGHT}
            assert [tool for tool in sorted(tools) if BROUGHT[tool] not in known] == [], block.where


@each("page", GUIDES, ids=named)
def test_commands_within_a_sentence_exist(page: Path) -> None:
    for code in inline_code(page):
        if words := words_of(code):
            check_options(words, named(page))
        elif make := re.match(r"make (\w+)", code):
            assert make[1] in TARGETS, code


def test_the_check_sees_what_is_wrong() -> None:
    with pytest.raises(AssertionError, match="No such option"):
        parse(["check", "--from", "x", "--plam", "y"], "here")
    with pytest.raises(AssertionError, match="there is no such command"):
        parse(["chekc"], "here")
    with pytest.raises(AssertionError, match="neither run nor parsed"):
        _exists("launch-missiles --now", "here")
    assert goes_on("truerail watch --plan plan.yaml")
    assert goes_on("sudo make demo")
    assert not goes_on("truerail serve --check --config truerail.yaml")
    assert not goes_on("prometheus --config.file=prometheus.yml &")
    with pytest.raises(AssertionError, match="no target"):
        _exists("make missiles", "here")
    with pytest.raises(AssertionError, match="but what is printed"):
        same(["first", "...", "third"], "first\nsecond\nfourth\n", "here")
    with pytest.raises(AssertionError, match="more is printed"):
        same(["first"], "first\nsecond\n", "here")
    same(["14:00:01 first", "...", "third"], "15:20:59 first\nsecond\nthird\n", "here")

"""The project's conventions, as tests: what CONTRIBUTING.md promises about files, names, layers and generated text."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import get_args

from packaging.requirements import Requirement

import collector
import rules
from benchmarks.structure import budgets, measured
from tests.each import each
from truerail.analysis.rule import HEADINGS, Rule
from truerail.model import KINDS, Collector
from truerail.model.facts import Fact

ROOT = Path(__file__).resolve().parent.parent
CODE = ("truerail", "collector", "rules", "tests", "docs", "benchmarks")
SOURCES = sorted(path for folder in CODE for path in (ROOT / folder).rglob("*.py"))
COLLECTORS = list(collector.collectors().values())
RULES = list(rules.rules().values())
MOST_LINES = {"tests": 700}
"""By top folder, else 400: a test may be one long table of what recorded answers say."""
MOST_GENERATED_LINES, MOST_OF_A_RULE = 11_700, 75
"""Without rules, and what each rule adds: its runbook, and its place in the catalogue."""
DIALECT = re.compile(r"\b(told|anew|whom|nobody|whoever|lets go|stands for)\b", re.IGNORECASE)
"""Words for which the field has others: report, show, read, again, no device, means."""
MOST_DIALECT_WORDS = 2
"""It only falls: a change that removes some lowers it."""
FAMILIES = (
    "CAB",
    "NIC",
    "JOB",
    "LNK",
    "PFC",
    "CFG",
    "ECN",
    "LBL",
    "RAL",
    "INC",
    "CAP",
    "LAG",
    "BGP",
    "EFA",
    "TEL",
    "PRB",
)
INDEX_ADDRESS = re.compile(r"(?<!no-emit-)index-url|pypi\.org|pythonhosted|://[^\s\"')]*/simple\b", re.IGNORECASE)
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where a statement has others."""
UNDONE = re.compile(r"\b[T]ODO\b|\b[F]IXME\b|\b[X]XX\b")
SUPPRESSION = re.compile(r"#\s*(?:noqa|type:\s*ignore)(?P<codes>[:\[]\s*[\w, -]*?\]?)?(?P<reason>\s*[-#].*)?$")


def named(path: Path) -> str:
    """A path as messages show it."""
    return path.relative_to(ROOT).as_posix()


def committed() -> list[Path]:
    """All files that are committed or would be; without git, all that are not made by tools."""
    git = shutil.which("git")
    if git and (ROOT / ".git").exists():
        command = [git, "-c", f"safe.directory={ROOT}", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
        return [ROOT / name for name in listed if name and (ROOT / name).is_file()]
    return [path for path in ROOT.rglob("*") if path.is_file() and not path.relative_to(ROOT).parts[0].startswith(".v")]


@each("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_explains_itself_under_the_fixed_headings(rule: Rule) -> None:
    places = [rule.explanation.index(heading) for heading in HEADINGS]
    assert places == sorted(places)
    sections = re.split(r"^## .*$", rule.explanation, flags=re.MULTILINE)
    assert len(sections) == len(HEADINGS) + 1
    assert all(len(section.split()) >= 5 for section in sections), "a heading without an explanation under it"
    assert rule.title.endswith(".")


@each("rule", RULES, ids=lambda rule: rule.code)
def test_a_rule_shows_when_it_fires_and_when_it_is_quiet(rule: Rule) -> None:
    assert rule.fires
    assert rule.quiet


@each("rule", RULES, ids=lambda rule: rule.code)
def test_a_rules_file_function_and_code_agree(rule: Rule) -> None:
    assert (ROOT / "rules" / f"{rule.name}.py").is_file()
    assert getattr(rule.evaluate, "__name__", "") == rule.name
    assert re.fullmatch(rf"({'|'.join(FAMILIES)})\d\d\d", rule.code)


@each("rule", RULES, ids=lambda rule: rule.code)
def test_a_rules_needs_are_yielded_by_some_collector(rule: Rule) -> None:
    assert set(rule.needs) <= {kind for found in COLLECTORS for kind in found.yields}


def test_the_type_of_facts_names_every_kind() -> None:
    assert get_args(Fact) == tuple(KINDS)
    assert all(set(known.bounds) <= set(kind._fields) for kind, known in KINDS.items())


@each("found", COLLECTORS, ids=lambda found: found.name)
def test_a_collectors_file_and_function_agree(found: Collector) -> None:
    assert (ROOT / "collector" / f"{found.name}.py").is_file()
    assert getattr(found.parse, "__name__", "") == found.name
    assert set(found.yields) <= set(KINDS)
    assert len({command.text for command in found.ask}) == len(found.ask)


def test_a_file_is_small_and_says_what_it_is() -> None:
    texts = {named(path): path.read_text(encoding="utf-8") for path in SOURCES}
    assert len(texts) > 1000
    assert not [name for name, text in texts.items() if text.count("\n") > MOST_LINES.get(name.partition("/")[0], 400)]
    begins = re.compile(r'(#!.*\n)?r?"""\S')
    assert not [name for name, text in texts.items() if not begins.match(text)], "a module starts with its docstring"


def test_nothing_is_left_undone_and_no_check_is_silenced_without_a_reason() -> None:
    undone, unexplained = [], []
    for path in SOURCES:
        before = ""
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if UNDONE.search(line):
                undone.append(f"{named(path)}:{number}: {line.strip()}")
            found = SUPPRESSION.search(line)
            # a comment in the line before is the reason, where it does not fit beside the code
            if found and not found["reason"] and not before.lstrip().startswith("#"):
                unexplained.append(f"{named(path)}:{number}: {line.strip()}")
            before = line
    assert not undone
    assert not unexplained


def test_distinct_values_are_found_by_sorting() -> None:
    """`distinct`, not numpy's `unique`, which looks integers up in a hash table unless it returns more than them."""
    slow = re.compile(r"np\.unique\((?!.*(?:return_|axis=))")
    assert not [named(path) for path in SOURCES if "tests" not in path.parts and slow.search(path.read_text("utf-8"))]


def test_the_words_of_the_old_dialect_only_become_fewer() -> None:
    pages = [path for path in committed() if path.suffix in (".py", ".md", ".js")]
    shown = [path for path in pages if path.relative_to(ROOT).parts[0] in ("truerail", "collector", "rules", "docs")]
    assert sum(len(DIALECT.findall(path.read_text(encoding="utf-8"))) for path in shown) <= MOST_DIALECT_WORDS


def test_no_text_stands_alone_behind_a_statement() -> None:
    """A text that is no docstring and is used nowhere is the lost end of the one before."""
    assert not [f"{named(path)}:{number}" for path in SOURCES for number in lost_texts(path)]


def lost_texts(path: Path) -> Iterator[int]:
    """The lines of texts that are statements and begin as no docstring does."""
    source = path.read_text(encoding="utf-8")
    lines = source.encode().split(b"\n")
    open_blocks: list[ast.AST] = [ast.parse(source)]
    while open_blocks:  # statements alone: most nodes are parts of expressions
        for statement in chain(*(getattr(block, name, ()) for block in [open_blocks.pop()] for name in BLOCKS)):
            if not isinstance(statement, ast.Expr):
                open_blocks.append(statement)
            elif isinstance(statement.value, ast.JoinedStr | ast.Constant):
                begin = lines[statement.lineno - 1][statement.col_offset :]
                if not begin.startswith((b'"""', b'r"""', b"...")):
                    yield statement.lineno


def test_no_folder_of_tests_shadows_a_package() -> None:
    packages = {path.parent.name for path in (ROOT / "tests").rglob("__init__.py")}
    assert not packages & {"truerail", "collector", "rules", "tests"}, (
        "it would be imported in place of the top-level one"
    )
    assert not list((ROOT / "tests").glob("*/**/test_*.py")), "tests are flat files"


def test_the_layers_hold() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_the_catalogues_are_current() -> None:
    command = [sys.executable, "docs/catalogues.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_few_lines_are_generated_and_committed() -> None:
    """What people read in the repository, and no second copy of it: `truerail monitoring export` writes the others.
    The pins of requirements/ are not counted: pip compiles them.
    """
    marked = re.compile(r"(?:<!--|#) (?:Generated|Written) by ")
    heads = {path: path.read_bytes()[:200].decode("utf-8", "replace").splitlines()[:2] for path in committed()}
    made = [path for path, head in heads.items() if any(map(marked.match, head))]
    made += (ROOT / "dashboards/generated/grafana").glob("*.json")
    assert len(made) > 50
    assert sum(path.read_bytes().count(b"\n") for path in made) <= MOST_GENERATED_LINES + MOST_OF_A_RULE * len(
        rules.rules()
    )


def test_no_file_names_a_package_index() -> None:
    guilty = []
    for path in committed():
        if path == Path(__file__).resolve():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        guilty += [f"{named(path)}: {found.group()}" for found in INDEX_ADDRESS.finditer(text)]
    assert guilty == []


def test_the_pins_are_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = (ROOT / "requirements" / "run.in").read_text().split("\n")
    extras = project["optional-dependencies"]
    assert extras.pop("all") == [f"truerail[{','.join(sorted(extras))}]"]
    needed = [*project["dependencies"], *chain.from_iterable(extras.values())]
    assert {distribution(line) for line in asked if line} == {distribution(line) for line in needed}
    run, build, dev = (pins(name) for name in ("run", "build", "dev"))
    assert {distribution(line) for line in needed} <= run.keys()
    assert run.items() <= dev.items()
    assert build.items() <= dev.items()


def test_pins_name_the_extras_that_packages_ask_for() -> None:
    """pip 23.2, as Python 3.11 brings it, takes the newest release for `name[extra]` where the pin has the
    bare name, and then refuses it: each release of such a package would break every installation.
    """
    pinned = {
        distribution(line)
        for name in ("run", "dev")
        for line in (ROOT / "requirements" / f"{name}.txt").read_text().splitlines()
        if re.match(r"[\w.-]+\[", line)
    }
    asked = set()
    for installed in metadata.distributions():
        for requirement in map(Requirement, installed.requires or ()):
            wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if wanted and requirement.extras and installed.name != "truerail":
                asked.add(distribution(requirement.name))
    assert asked
    assert asked <= pinned


def distribution(requirement: str) -> str:
    """The name in a requirement, in the one spelling that indexes use."""
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def pins(name: str) -> dict[str, str]:
    """Distribution to version in a file of pins; each has a hash, or this fails."""
    blocks = re.split(r"\n(?=\S)", (ROOT / "requirements" / f"{name}.txt").read_text())
    assert all("--hash=sha256:" in block for block in blocks)
    return {distribution(block): block.partition("==")[2].split()[0] for block in blocks}


# The size of the house only falls: no room is larger than the table of CONTRIBUTING.md allows


def test_no_room_grows() -> None:
    most, figures = budgets(), measured()
    assert len(most) > 20, "the table of CONTRIBUTING.md was not understood"
    larger = {name: (figure, most.get(name)) for name, figure in figures.items() if figure > most.get(name, 0)}
    assert not larger, "now, and at most"

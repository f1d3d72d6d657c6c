"""One rule as a page of Markdown: its explanation, and the examples that are its tests."""

from collections.abc import Iterator, Sequence

from truerail.analysis.rule import Case, Rule
from truerail.model import Fact


def page(rule: Rule, *, examples: bool = False) -> str:
    """The page in Markdown: a line for each example, or with `examples` its plan, answers and findings."""
    needs = ", ".join(kind.__name__ for kind in rule.needs) or "nothing"
    needs += "".join(f" or {kind.__name__}" for kind in rule.instead)
    lines = [f"# {rule.code} {rule.name}", "", f"Severity {rule.severity.value}. Needs {needs}.", ""]
    lines += [rule.explanation.strip(), "", "## Examples", ""]
    cases = (("Fires", rule.fires), ("Quiet", rule.quiet))
    if not examples:
        return "\n".join([*lines, *(f"- **{word}**: {case.summary}" for word, found in cases for case in found)])
    return "\n".join([*lines, *(line for word, found in cases for line in _cases(word, found))])


def _cases(word: str, cases: Sequence[Case]) -> Iterator[str]:
    for case in cases:
        yield f"**{word}**: {case.summary}"
        yield ""
        yield "```text"
        yield from _body(case)
        yield "```"
        yield ""


def _body(case: Case) -> Iterator[str]:
    """The plan, the devices' answers, and the findings, each under its heading."""
    yield from _under("plan", [line.strip() for line in case.plan.strip().splitlines()])
    if case.rails:
        yield from _under("rails", case.rails.split())
    answers = [f"{device}: {_fact(fact)}" for device, facts in case.facts.items() for fact in facts]
    yield from _under("answers", answers)
    yield from _under("errors", [f"{device}: {why}" for device, why in case.errors.items()])
    yield from _under("finds", case.finds.split() or ["nothing"])


def _under(word: str, lines: Sequence[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"{'' if number else word:<8} {line}"


def _fact(fact: Fact) -> str:
    """A fact with its set fields."""
    reported = fact._asdict()
    fields = (f"{key}={value!r}" for key, value in reported.items() if value not in (None, ()))
    return f"{type(fact).__name__}({', '.join(fields)})"

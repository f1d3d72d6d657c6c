"""What the first command of a rule's runbook prints: for its own examples, on fabrics that are right otherwise."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from truerail.analysis.published import Published
from truerail.analysis.rule import Case, Rule
from truerail.model import Fact, Finding, Neighbor, Severity, Transport
from truerail.outputs.options import Options
from truerail.questions.answer_text import answer_text
from truerail.questions.diff import diff_plan
from truerail.questions.jobs import jobs
from truerail.questions.storm import storm
from truerail.questions.where import where
from truerail.rounds import publication_of
from truerail.testing.cases import look, plan_of, scene

OPTIONS: Final = Options(100)


@dataclass(frozen=True)
class Example:
    """A finding of a rule's example: the evaluated fabric, and the words of the first command behind `truerail`."""

    publication: Published
    finding: Finding
    words: tuple[str, ...]

    @property
    def output(self) -> str:
        """What the command prints, 100 columns wide."""
        match self.words:
            case ("where", subject):
                return answer_text(where(self.publication, subject), OPTIONS)
            case ("jobs",):
                return answer_text(jobs(self.publication, None), OPTIONS)
            case ("storm",):
                return answer_text(storm(self.publication), OPTIONS)
        return answer_text(diff_plan(self.publication), OPTIONS)


def examples(rule: Rule) -> Iterator[Example]:
    """All findings of the rule in its own examples."""
    for case in rule.fires:
        shown, found = _evaluated(rule, case)
        for finding in found:
            yield Example(shown, finding, words(rule, finding.subject))


def words(rule: Rule, subject: str) -> tuple[str, ...]:
    """The first command on a subject."""
    first = rule.first.split()
    return ("where", subject) if first[0] == "where" else tuple(first)


def first_example(rule: Rule, every: Iterable[Example] = ()) -> Example:
    """The one that a runbook shows: the first of the severity that the rule has most often. `every` is what `examples`
    gave, where it was asked already.
    """
    rest = iter(every or examples(rule))
    first = next(rest)
    return next((one for one in chain([first], rest) if one.finding.severity is rule.severity), first)


def _evaluated(rule: Rule, case: Case) -> tuple[Published, list[Finding]]:
    """An example evaluated by all rules; the cabling is right where the example does not speak of it, if the rule finds
    the same then.
    """
    alone, cabled = scene(case), _cabled(case)
    right = publication_of(alone if cabled is case else scene(cabled))
    same = _found(rule, right)
    if cabled is case or Counter(map(_what, look(rule, alone).findings)) == Counter(map(_what, same)):
        return right, same
    shown = publication_of(alone)
    return shown, _found(rule, shown)


def _what(finding: Finding) -> tuple[str, Severity]:
    return finding.subject, finding.severity


def _found(rule: Rule, shown: Published) -> list[Finding]:
    return [finding for finding in shown.evaluation.findings if finding.rule == rule.code]


def _cabled(case: Case) -> Case:
    """The example with neighbours as planned, where it has none at all."""
    facts: dict[str, list[Fact]] = {device: list(known) for device, known in case.facts.items()}
    if case.transport is not Transport.ROCE or any(
        isinstance(fact, Neighbor) for known in facts.values() for fact in known
    ):
        return case
    for cable in plan_of(case).cables:
        for here, there in ((cable.a, cable.b), (cable.b, cable.a)):
            heard = Neighbor(here.name, system_name=there.device, port_id=there.name, port_id_type="ifname")
            if here.device not in case.errors:
                facts.setdefault(here.device, []).append(heard)
    return replace(case, facts=facts)

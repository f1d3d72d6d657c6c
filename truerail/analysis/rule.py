"""A rule: from a round to findings, with its explanation and its own examples."""

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from truerail.analysis.not_evaluated import InsufficientDataError, NotApplicableError, report_not_evaluated
from truerail.analysis.round import Round
from truerail.model.cause_kinds import CauseKind
from truerail.model.facts import Fact
from truerail.model.finding import Finding, NotEvaluated, Severity
from truerail.model.plan import LoadBalancing, Plan, Port, QosProfile, Transport

if TYPE_CHECKING:
    from truerail.analysis.explained import Explained

__all__ = ["InsufficientDataError", "NotApplicableError", "Round", "report_not_evaluated"]
"""What rules import from here beside what is declared here."""

Findings = Iterator[Finding]
Evaluate = Callable[[Any], Findings]
"""Of a round; of an `Explained` one for a rule that is evaluated after the causes."""

HEADINGS = ("## Why it matters", "## How it is detected", "## What to do", "## Decide", "## False positives")
"""The sections of each rule's explanation, in this order. Under `Decide` each list item begins with words of the first
command's output in backticks, `N` for any number, followed by their meaning.
"""
WHERE = "where HOST/NIC"
"""The first command of most runbooks; words in capitals are labels of the alert."""


@dataclass(frozen=True, slots=True)
class Case:
    """An example of a rule: a small fabric, what its devices answer, and what the rule finds.

    `facts` maps a device to its facts, `errors` a device to the reason for its missing answer. `finds` are the subjects
    found, in any order, with a blank between them; empty in a quiet case. `plan` has one cable a line: `h1/nic0
    leaf-0/p1 rail=0 plane=0 speed=400`; a device's role follows from its name (`leaf`, `spine`, `superspine`, else
    host). A case without one has that of its module, `PLAN`. `summary` is its key in the module's `EXAMPLES`.
    """

    facts: Mapping[str, Sequence[Fact]] = field(default_factory=dict)
    finds: str = ""
    plan: str = ""
    unknown: bool = False
    """Whether a quiet case is unknown instead of passed: its data are insufficient for the rule."""
    errors: Mapping[str, str] = field(default_factory=dict)
    rails: str = ""
    """Rails with subnets or VLANs, if a case needs them: `0=10.0.0.0/24 1=10.0.1.0/24,vlan101`."""
    qos: QosProfile | None = None
    """The QoS that the plan declares, if a case needs it."""
    unpolled: Mapping[str, str] = field(default_factory=dict)
    """Why truerail itself did not poll a device, if a case needs it."""
    ages_seconds: Mapping[str, float] = field(default_factory=dict)
    """Age of a device's answers, if not 0."""
    transport: Transport = Transport.ROCE
    load_balancing: LoadBalancing = LoadBalancing.ECMP
    rates: Mapping[str, Mapping[str, float | Sequence[float]]] = field(default_factory=dict)
    """Counter rates per second: port to quantity (`tx_bytes`, `rx_pause_us:3` for priority 3) to a rate, or to one for
    each of the last samples, which are ten seconds apart. NaN is a missing reading. A counter under a driver's own name
    (`symbol_error`) starts at 0.
    """
    past: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict)
    """Signals of the days before: port to `rx_dbm`, `tx_dbm`, `celsius` or `ber` (log10 of the bit error rate before
    FEC) to one value for each of the last days, the oldest first.
    """
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A rule's result on a snapshot: its findings, and the parts that it could not evaluate."""

    findings: tuple[Finding, ...]
    not_evaluated: tuple[NotEvaluated, ...] = ()
    applies: bool = True
    """False where the facts show that there is nothing to evaluate."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of fault, how it is detected and what to do about it."""

    code: str
    name: str
    severity: Severity
    needs: tuple[type[Fact], ...]
    """Kinds of facts without which the rule cannot evaluate, unless there is one of `instead`."""
    explanation: str
    evaluate: Evaluate
    fires: tuple[Case, ...] = ()
    quiet: tuple[Case, ...] = ()
    transports: Sequence[Transport] = tuple(Transport)
    """The transports to which the rule applies."""
    balancing: Sequence[LoadBalancing] = tuple(LoadBalancing)
    """The load balancing to which the rule applies."""
    cause: CauseKind | None = None
    """The cause of an otherwise unexplained finding; None if the cabling, or the finding's detail, determines it."""
    first: str = WHERE
    """The first command of its runbook, after `truerail`."""
    instead: Sequence[type[Fact]] = ()
    """Kinds of facts any of which is enough where those of `needs` are missing."""
    after_causes: bool = False
    """Whether it is evaluated with the causes of the others' findings, as rules that join causes with jobs are."""

    def missing(self, answered: Collection[type[Fact]]) -> tuple[type[Fact], ...]:
        """The kinds of facts that the rule lacks if these were answered."""
        if not set(self.instead).isdisjoint(answered):
            return ()
        return tuple(kind for kind in self.needs if kind not in answered)

    def applies_to(self, plan: Plan) -> bool:
        """Whether the rule applies to this fabric."""
        return plan.transport in self.transports and plan.load_balancing in self.balancing

    @property
    def title(self) -> str:
        """The first line of the explanation."""
        return self.explanation.strip().partition("\n")[0]

    def look(self, round: "Round | Explained") -> Evaluated:
        """The rule's findings, and the parts for which `evaluate` raises InsufficientDataError."""
        findings: list[Finding] = []
        try:
            findings.extend(self.evaluate(round))  # findings before the exception stay
        except InsufficientDataError as undecided:
            return Evaluated(tuple(findings), undecided.parts)
        except NotApplicableError:
            return Evaluated((), applies=False)
        return Evaluated(tuple(findings))

    def findings(self, round: Round) -> tuple[Finding, ...]:
        """The rule's findings. Raises InsufficientDataError if there are none and it could not evaluate everything."""
        evaluated = self.look(round)
        if evaluated.not_evaluated and not evaluated.findings:
            raise InsufficientDataError(*evaluated.not_evaluated)
        return evaluated.findings

    def section(self, heading: str) -> str:
        """The text under one of `HEADINGS`, which is given without `##`."""
        _, _, behind = self.explanation.partition(f"\n## {heading}\n")
        return behind.partition("\n## ")[0].strip()

    def found(
        self, subject: Port | str, *, summary: str, action: str, severity: Severity | None = None, **more: Any
    ) -> Finding:
        """A finding of this rule."""
        return Finding(self.code, self.name, severity or self.severity, str(subject), summary, action, **more)


def rule(code: str, severity: Severity, needs: Sequence[type[Fact]], **more: Any) -> Callable[[Evaluate], Rule]:
    """Declares a rule; `more` are fields of `Rule` with defaults. The function's name is the rule's; its module's
    docstring explains it under `HEADINGS`.
    """

    def declare(evaluate: Evaluate) -> Rule:
        name, explanation = getattr(evaluate, "__name__", ""), sys.modules[evaluate.__module__].__doc__ or ""
        return Rule(code, name, severity, tuple(needs), explanation, evaluate, **more)

    return declare


def rule_of(module_name: str) -> Rule:
    """The rule that a module declares, with its examples. Raises TypeError if the contract of a rule file is broken."""
    module = sys.modules[module_name]
    name = module_name.rpartition(".")[2]
    declared = getattr(module, name, None)
    if not isinstance(declared, Rule) or any(heading not in declared.explanation for heading in HEADINGS):
        raise TypeError(f"{module_name}: needs a rule function named {name} and the headings {', '.join(HEADINGS)}")

    examples: Mapping[str, Case] = module.EXAMPLES
    cases = [replace(case, summary=text, plan=case.plan or module.PLAN) for text, case in examples.items()]
    fires, quiet = (tuple(case for case in cases if bool(case.finds) is finds) for finds in (True, False))
    return replace(declared, fires=fires, quiet=quiet)

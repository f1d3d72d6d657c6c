"""What the tests of the rules about links, hosts and settings share: four hosts on a leaf, and what is found there."""

from collections.abc import Mapping, Sequence
from typing import Any

from rules import rules
from truerail.analysis.rule import Case
from truerail.model import Fact, Finding
from truerail.testing.cases import scene

FOUR = "\n".join(f"gpu-{host}/nic0 leaf-0/swp{host} rail=0 speed=400" for host in (1, 2, 3, 4))
UPLINKED = f"{FOUR}\nleaf-0/swp9 spine-1/swp1 speed=400"
NAN = float("nan")
Rates = Mapping[str, Mapping[str, float | Sequence[float]]]


def found(
    code: str,
    plan: str = FOUR,
    facts: Mapping[str, Sequence[Fact]] | None = None,
    rates: Rates | None = None,
    **more: Any,
) -> list[Finding]:
    return list(rules()[code].findings(scene(Case(facts or {}, plan=plan, rates=rates or {}, **more))))


def looked(
    code: str, plan: str = FOUR, facts: Mapping[str, Sequence[Fact]] | None = None, rates: Rates | None = None
) -> tuple[list[Finding], list[tuple[str, int, int]]]:
    """What is found, and what could not be evaluated beside it: its kind, how many, and of how many."""
    evaluated = rules()[code].look(scene(Case(facts or {}, plan=plan, rates=rates or {})))
    return list(evaluated.findings), [(part.what, part.count, part.of) for part in evaluated.not_evaluated]


def only(findings: list[Finding]) -> Finding:
    assert len(findings) == 1, findings
    return findings[0]


def detail(finding: Finding) -> dict[str, Any]:
    return dict(finding.detail)


def at(samples: Mapping[int, float], usual: float = 0.0) -> list[float]:
    """Twelve samples, `usual` but for those named."""
    return [samples.get(number, usual) for number in range(12)]

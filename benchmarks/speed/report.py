"""The page that tells how fast a check is: figures in, Markdown out."""

import os
import sys
from dataclasses import dataclass
from typing import Any

from benchmarks.speed.clock import Run

GOALS = {64: 1.0, 12500: 8.0}
GOAL_PEAK_MB = 1500


@dataclass(frozen=True, slots=True)
class Checked:
    """One fabric, checked: `phases` in seconds as `phases.py` measures them."""

    hosts: int
    switches: int
    cables: int
    run: Run
    phases: dict[str, float]


def report(checks: list[Checked], parsed: dict[str, float], peers: dict[str, Any] | None) -> str:
    """The whole report as Markdown."""
    return f"""# Speed and size, as measured

`make bench` writes this page, on {os.cpu_count()} cores with Python {sys.version.split()[0]}. Absolute figures drift
with the machine; ratios and shapes hold. Every fabric has six faults, 5 % of its hosts unread and 10 % without LLDP of
their own; answers differ from host to host but for `topo -m` and `rdma link` of equal servers.

## A whole check

`truerail check --plan plan.csv --from capture`, start-up and report included, the fastest of two or three runs.

| hosts x rails | switches | GPUs | planned cables | wall s | CPU s | peak MB | microseconds a cable | goal |
|---|---|---|---|---|---|---|---|---|
{"".join(_check_row(one) for one in checks)}
## Where the time goes

Seconds, each step once in a fresh process.

| hosts | {" | ".join(checks[0].phases)} | wiring, rules and causes: microseconds a cable |
|---|{"---|" * (len(checks[0].phases) + 1)}
{"".join(_phase_row(one) for one in checks)}
*Wiring* resolves who is who and joins both ends of every cable; with *rules and causes* it is the comparison.

## Reading one answer

Milliseconds of one core for one text, the best of 200. Equal answers of equal hosts are read once.

| answer | truerail | goal | TextFSM | ratio |
|---|---|---|---|---|
{_parse_row("`nvidia-smi topo -m`, 8 GPUs and 12 NICs", "topo", parsed, 0.08, peers)}
{_parse_row("`rdma link`, 12 devices", "rdma", parsed, 0.02, peers)}
{_parse_row("`lldpctl -f json0`, 10 neighbours", "lldp", parsed, 0.06, peers)}
{_parse_row("`show lldp neighbors detail`, NX-OS, 64 neighbours (ntc-templates)", "nxos", parsed, None, peers)}
{_beside(peers)}"""


def _check_row(one: Checked) -> str:
    goal = f"{GOALS[one.hosts]:.1f} s" if one.hosts in GOALS else ""
    goal += f", {GOAL_PEAK_MB} MB" if one.hosts == max(GOALS) else ""
    each = one.run.wall / one.cables * 1e6
    size = f"| {one.hosts:,} x 8 | {one.switches} | {one.hosts * 8:,} | {one.cables:,} "
    return f"{size}| {one.run.wall:.2f} | {one.run.cpu:.2f} | {one.run.peak_mb:.0f} | {each:.0f} | {goal} |\n"


def _phase_row(one: Checked) -> str:
    each = (one.phases["wiring"] + one.phases["rules and causes"]) / one.cables * 1e6
    steps = " | ".join(f"{seconds:.2f}" for seconds in one.phases.values())
    return f"| {one.hosts:,} | {steps} | {each:.2f} (goal 3) |\n"


def _parse_row(words: str, key: str, ours: dict[str, float], goal: float | None, peers: dict[str, Any] | None) -> str:
    theirs = peers.get(key) if peers else None
    other = f"{theirs * 1e3:.3f} | {theirs / ours[key]:.1f} x" if theirs else "- | -"
    return f"| {words} | {ours[key] * 1e3:.4f} | {goal or '-'} | {other} |"


def _beside(peers: dict[str, Any] | None) -> str:
    if not peers:
        return ""
    rows = (
        ("truerail, the same question: cabling rules on the switches' answers", peers["ours_same"]),
        ("ANTA VerifyLLDPNeighbors, inputs made beforehand", peers["anta"]),
        ("ANTA VerifyLLDPNeighbors, with the making of its inputs", peers["anta_whole"]),
        ("napalm-validate, getter's answer and expectation made beforehand", peers["napalm"]),
        ("truerail, all rules on the answers of hosts and switches", peers["ours"]),
    )
    lines = "\n".join(f"| {words} | {each * 1e6:.2f} | {each / peers['ours_same']:.1f} x |" for words, each in rows)
    return f"""
## Comparing a link

The {peers["links"]:,} links of one clean fabric, as its switches' ports report them; answers are decoded beforehand.
The others compare the names at one end of each link and stop there. truerail resolves who is who by name and MAC, joins
both ends where both answer, and looks for causes.

| | microseconds a link | ratio |
|---|---|---|
{lines}
"""

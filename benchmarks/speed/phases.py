"""Where one check's time goes. Run as a process of its own, so that nothing is warm: prints one JSON object.

python -m benchmarks.speed.phases plan.csv capture
"""

import json
import sys
import time
from pathlib import Path


def main() -> None:
    """Times each step of a check, in seconds."""
    seconds: dict[str, float] = {}
    last = time.perf_counter()

    def lap(name: str) -> None:
        nonlocal last
        now = time.perf_counter()
        seconds[name] = now - last
        last = now

    from truerail.analysis.round import Round
    from truerail.outputs.report import render
    from truerail.plans import load
    from truerail.rounds import evaluate
    from truerail.transport.replay import read_capture

    lap("imports")
    plan = load(Path(sys.argv[1]))
    lap("plan")
    capture = read_capture(Path(sys.argv[2]), devices=plan.devices)
    lap("read")
    snapshot = capture.snapshot()
    round = Round(plan, snapshot)
    _ = round.cabling
    lap("wiring")
    evaluation = evaluate(round)
    lap("rules and causes")
    text = render(evaluation, "json")
    lap("report")
    facts = {"cables": len(plan.cables), "devices": len(plan.devices), "report_bytes": len(text)}
    print(json.dumps({"seconds": seconds, **facts}))  # noqa: T201 - its caller reads this


if __name__ == "__main__":
    main()

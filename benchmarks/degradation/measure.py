"""Measures forecasts of failing links, and their speed.

python -m benchmarks.degradation.measure [--seeds 16] [--links 2000] [--each 40] [--write PAGE]
"""

from pathlib import Path
from time import process_time
from typing import Annotated

import numpy as np
import typer

from benchmarks.degradation.report import SECTION, section
from benchmarks.degradation.scoring import lives, plan_of
from truerail.analysis.trends.declines import declines_of, slopes
from truerail.analysis.trends.link_past import SAMPLES, LinkPast, PastSample

DAYS = 60
CABLES = 100_000


def main(
    seeds: Annotated[int, typer.Option(help="Fabrics.")] = 16,
    links: Annotated[int, typer.Option(help="Healthy links in each.")] = 2000,
    each: Annotated[int, typer.Option(help="Links of each kind that decays.")] = 40,
    write: Annotated[Path | None, typer.Option(help="The page whose section is replaced.")] = None,
) -> None:
    """Measures, prints the section, and writes it into a page."""
    found = [one for seed in range(seeds) for one in lives(seed, DAYS, links, each)]
    text = section(found, DAYS, speed())
    typer.echo(text)
    if write is not None:
        write.write_text(SECTION.placed(write.read_text(encoding="utf-8"), text), encoding="utf-8")


def speed() -> str:
    """How long the evaluation of 200,000 ports takes, in sentences."""
    past, rng = _large(), np.random.default_rng(0)
    begin = process_time()
    declines_of(past)
    everything = process_time() - begin
    days = rng.normal(-2, 0.1, (14, 2 * CABLES)).astype(np.float32)
    begin = process_time()
    slopes(days)
    alone = process_time() - begin
    return (
        f"200,000 ports of fourteen days take\n{everything:.1f} s of CPU once in two hours; slopes and intervals of "
        f"all of them, where the rule needs those of suspects,\n{alone:.1f} s."
    )


def _large() -> LinkPast:
    rng, shape = np.random.default_rng(0), (4, 2, CABLES)
    base = np.array([-2.0, -1.0, 45.0, -9.0])[:, None, None]
    samples = tuple(PastSample(n, (base + rng.normal(0, 0.1, shape)).astype(np.float16)) for n in range(SAMPLES))
    lot = np.arange(CABLES) % 8 + np.array([[0], [8]])
    never, unknown = np.full(shape[1:], -np.inf), np.full(shape[1:], np.nan, dtype=np.float32)
    return LinkPast(plan_of(CABLES), samples, never, never, lot, unknown)


if __name__ == "__main__":
    typer.run(main)

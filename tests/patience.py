"""Waiting in tests that no machine is too slow for: until something is true, and without counting what others take."""

import asyncio
import os
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
ENOUGH = 300.0
"""Seconds for what takes a timeout of its own: a hang is ended, and shown, before (`timeout` in pyproject.toml)."""
_NAMED_SECONDS = 45.0
"""Until then, by `limit`, `soon` and `until` wait: less than the whole test may take, so that the wait is named."""
PAUSE_SECONDS = 0.05
"""From one look of `soon` and `until` to the next: each may ask a service, which shares the processors."""
_TICK_SECONDS = 0.01
_LINEAR, _NO_GROWTH_SECONDS = 10, 0.25
PAUSES = {
    "access_site.py": "a site's own stream, which never ends",
    "demo_process.py": "looks again whether another process is ready",
    "fake_fleet.py": "devices that are slow or hang, on a loop whose clock the test moves",
    "lab/cables.py": "a cable is unplugged for so long that lldpd notices",
    "lab/hearing.py": "looks again at what lldpd hears",
    "lab/serving.py": "looks again at what the service answers",
    "lab/system.py": "looks again at the processes of a namespace",
    "left_over.py": "looks again at what a module leaves",
    "patience.py": "looks again",
    "slurm_site.py": "looks again at what slurmctld answers",
    "test_bus_cluster.py": "asks NATS again which server leads",
    "test_bus_front_link.py": "a judge reports again",
    "test_bus_leases.py": "a lease of a real NATS lives on for longer than one lives that is not renewed",
    "test_bus_nats.py": "asks NATS again how many messages it keeps",
    "test_clock_set.py": "the clock is moved",
    "test_hung_devices.py": "the clock is moved",
    "test_lab_ecmp.py": "from one count of a real agent to the next",
    "test_probe_heavy.py": "a stand-in for `select`, which waits for the same time",
    "test_replay.py": "a disk that is slow",
    "test_service_asking.py": "the clock is moved",
    "test_tasks.py": "work that is cancelled",
    "test_transport_ssh_switch.py": "work that is cancelled",
    "watched_fabric.py": "asks Prometheus again",
}
"""Where tests pause, and why: to look again at what another program shows on a clock of its own, to be slow, or on a
clock that the test moves. No test waits for an amount of time in which something should have happened.
"""


def limit(seconds: float) -> float:
    """`seconds` of a machine on which no process waits for a processor; on a busy one as many times longer."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def soon(true: Callable[[], object], what: str = "what the test waits for") -> None:
    """Waits until something is true; fails where a hang keeps it from coming true."""
    began = time.monotonic()
    while not true():
        _go_on(began, what)
        time.sleep(PAUSE_SECONDS)


async def until(true: Callable[[], object], what: str = "what the test waits for") -> None:
    """`soon`, while the event loop goes on."""
    began = time.monotonic()
    while not true():
        _go_on(began, what)
        await asyncio.sleep(PAUSE_SECONDS)


def _go_on(began: float, what: str) -> None:
    seconds = time.monotonic() - began
    assert seconds < limit(_NAMED_SECONDS), f"it did not come true within {seconds:.0f} s: {what}"


async def waited(work: Coroutine[Any, Any, T]) -> tuple[T | BaseException, float]:
    """What `work` gives or raises, and for how many seconds it waited at most.

    These seconds are counted in pauses of the event loop, each of which counts for what it was meant to last: time that
    a busy machine takes away is not among them, nor is the time of a computation.
    """
    pauses = 0

    async def count() -> None:
        nonlocal pauses
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            pauses += 1

    counting = asyncio.create_task(count())
    results = await asyncio.gather(work, return_exceptions=True)
    counting.cancel()
    return results[0], pauses * _TICK_SECONDS


def grows_with(work: Callable[[int], object]) -> None:
    """Fails where `work(4)` takes this thread much more than four times the processor time of `work(1)`.

    A ratio of the same work at two sizes says how the time grows, on a fast machine and on a slow one: four for what is
    linear, sixteen for what is quadratic. A quarter of a second is no growth, whatever the ratio; one good measurement
    of three is enough, because others share the machine's caches.
    """
    ratios = []
    for _ in range(3):
        large = _processor_seconds(work, 4)
        if large < _NO_GROWTH_SECONDS:
            return
        small = _processor_seconds(work, 1)
        if large < _LINEAR * small + _NO_GROWTH_SECONDS:
            return
        ratios.append(large / small)
    raise AssertionError(f"four times the work took {', '.join(f'{ratio:.0f}' for ratio in ratios)} times as long")


def _processor_seconds(work: Callable[[int], object], size: int) -> float:
    begun = time.thread_time()
    work(size)
    return time.thread_time() - begun

"""GPUs that are slow in a collective of NCCL, as its Inspector reports the bus bandwidth of each."""

from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import NamedTuple

from truerail.model.nccl_facts import NcclBandwidth

SHARE = 0.8
"""Of the median of its communicator, below which a GPU counts as slow: judged, not measured."""
WINDOWS = 3
"""The newest times at which it has to be so: one window is a checkpoint or a data loader."""
_FEWEST = 3
"""GPUs without which a median names no culprit."""


class SlowGpu(NamedTuple):
    """A GPU below the share in each of the newest windows, its newest bandwidth, and the median then."""

    sample: NcclBandwidth
    median_gbs: float


def slow_gpus(samples: Iterable[NcclBandwidth]) -> Iterator[SlowGpu]:
    """The slow ones, in the order of their communicators, collectives and sizes."""
    groups: dict[tuple[str, str, str], dict[float, dict[tuple[str, int | None], NcclBandwidth]]] = {}
    for one in samples:
        if one.at is not None:
            windows = groups.setdefault((one.comm, one.collective, one.bytes), {})
            windows.setdefault(one.at, {})[one.node, one.gpu] = one
    for windows in groups.values():
        newest = [windows[at] for at in sorted(windows)[-WINDOWS:]]
        if len(newest) == WINDOWS:
            yield from _slow(newest)


def _slow(windows: list[dict[tuple[str, int | None], NcclBandwidth]]) -> Iterator[SlowGpu]:
    medians = [median(one.busbw_gbs for one in window.values()) for window in windows]
    for gpu, sample in windows[-1].items():
        if all(len(window) >= _FEWEST for window in windows) and all(
            _below(window, gpu, middle) for window, middle in zip(windows, medians, strict=True)
        ):
            yield SlowGpu(sample, medians[-1])


def _below(window: Mapping[tuple[str, int | None], NcclBandwidth], gpu: tuple[str, int | None], middle: float) -> bool:
    sample = window.get(gpu)
    return sample is not None and sample.busbw_gbs < SHARE * middle

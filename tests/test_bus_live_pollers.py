"""Which pollers run, and which are missing: by a clock that the test sets."""

from truerail.link.live_pollers import MISSING_SECONDS, LivePollers

ONE, OTHER = ("dc1", "one"), ("dc1", "other")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_silent_poller_is_missing_for_an_hour_and_one_that_reports_its_end_is_not() -> None:
    clock = Clock()
    live = LivePollers(9.0, clock)
    assert live.heard(ONE, "a", 1)
    assert live.heard(OTHER, "b", 1)
    assert live.ended(OTHER)
    assert (live.running, live.missing) == ([ONE], [])
    clock.now = 10.0
    assert live.expire()
    assert (live.running, live.missing) == ([], [ONE])
    clock.now += MISSING_SECONDS
    assert live.missing == [ONE]
    clock.now += 1.0
    assert live.missing == []
    assert set(live.since) == {ONE, OTHER}


def test_a_poller_that_comes_back_is_not_missing() -> None:
    clock = Clock()
    live = LivePollers(9.0, clock)
    live.heard(ONE, "a", 1)
    clock.now = 10.0
    assert live.expire()
    assert live.heard(ONE, "a2", 2)
    assert (live.running, live.missing, live.epoch) == ([ONE], [], 2)

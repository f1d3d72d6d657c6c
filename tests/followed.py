"""Orders as a technician follows them: one plug after the other, into ports that are free."""

from collections.abc import Iterable, Mapping

from truerail.model import Cause, CauseKind, Port


def both_ways(far: Mapping[Port, Port | None]) -> dict[Port, Port | None]:
    """The port at the other end of each cable's ports."""
    return {**far, **{there: here for here, there in far.items() if there is not None}}


def followed(far: Mapping[Port, Port | None], causes: Iterable[Cause]) -> dict[Port, Port | None]:
    """What is wired to what after all moves, `both_ways`; `far` before them. Fails at the first that cannot be done:
    the cable is elsewhere, its port is taken, or what must come first does not end. One plug of a cycle hangs loose
    until the others have moved; a bundle moves as a whole.
    """
    here = both_ways(far)
    left = [cause for cause in causes if cause.moves]
    while left:
        keys = {cause.key for cause in left}
        ready = [one for one in left if not any(keys.intersection(move.after_causes) for move in one.moves)]
        assert ready, f"each waits for another: {[one.summary for one in left]}"
        left.remove(ready[0])
        _follow(here, ready[0])
    return here


def _follow(here: dict[Port, Port | None], cause: Cause) -> None:
    loose: dict[Port, Port] = {}
    for number, move in enumerate(cause.moves):
        assert here[move.cable] == move.source, f"{move.cable} is not in {move.source}: {cause.summary}"
        here[move.cable] = here[move.source] = None
        loose[move.cable] = move.target
        still = {later.source for later in cause.moves[number + 1 :]}
        for cable, target in list(loose.items()):
            if here.get(target) is None:
                here[cable], here[target] = loose.pop(cable), cable
        assert still.issuperset(loose.values()), f"{loose} are taken: {cause.summary}"
        assert len(loose) <= 1 or cause.kind is CauseKind.BUNDLE_SWAP, f"{loose} hang loose: {cause.summary}"
    assert not loose

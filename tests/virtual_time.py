"""An event loop whose clock stands still while anything can be done, and jumps where everybody would only wait.

For what happens in this process alone: a wait of an hour takes no time, and always ends after one of 59 minutes,
however slow the machine is. What threads of the loop's executor do takes no time either.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):
    """Tells `passed` how long it would have waited for nothing."""

    passed: Callable[[float], bool]

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        return super().select(None) if timeout is None or not self.passed(timeout) else []


class _Loop(asyncio.SelectorEventLoop):
    """Its clock starts at 0."""

    def __init__(self) -> None:
        self._now, self._at_work = 0.0, 0
        selector = _Selector()
        selector.passed = self._pass
        super().__init__(selector)

    def time(self) -> float:
        return self._now

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]  # as any function
        """As the loop has it; time stands still until it is done."""
        done = super().run_in_executor(executor, func, *args)
        self._at_work += 1
        done.add_done_callback(self._rest)
        return done

    async def shutdown_default_executor(self, *_: object) -> None:
        """As the loop has it, without its limit of five minutes, which would pass at once."""
        await super().shutdown_default_executor()

    def _rest(self, _: object) -> None:
        self._at_work -= 1

    def _pass(self, seconds: float) -> bool:
        """Whether so much time may pass at once."""
        if self._at_work:
            return False
        self._now += seconds
        return True


def timeless(work: Coroutine[Any, Any, T]) -> T:
    """As `asyncio.run`, on such a loop."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(work)

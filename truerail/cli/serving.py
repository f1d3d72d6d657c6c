"""Assembles the service from poller, journal and web server, and runs it until a signal.

`truerail serve` runs it on real devices, `truerail demo` on a simulated fabric; from the transport on it is the same.
"""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from truerail.errors import CommandError
from truerail.model.pause import garbage_of_the_young_only

if TYPE_CHECKING:
    from truerail.journal import Journal
    from truerail.model import Target
    from truerail.outputs.metrics import Exposition
    from truerail.service.history_writer import HistoryWriter
    from truerail.service.outlet import Outlet
    from truerail.service.plans import PlanInForce
    from truerail.service.round_loop import Watch
    from truerail.service.settings import Settings
    from truerail.transport.protocol import Transport
    from truerail.web.access.tls import Certificates
    from truerail.web.http_server import Listening

Ready = Callable[[str], None]
"""Called with the service's address, once it responds."""
SWITCH_SECONDS = 0.00005
"""Python's switch interval between threads. A reader's request waits for its turn about ten times on its way through
the loop and the journal, so that ten times this value, during evaluation and writes, is noticeable.
"""


async def serve_fabric(
    settings: "Settings",
    targets: "Sequence[Target]",
    plan: "PlanInForce",
    transport: "Transport",
    *,
    ready: Ready,
    stop: asyncio.Event,
    reload: Callable[["Watch"], None] | None = None,
) -> None:
    """Monitors and serves until `stop` is set. Raises CommandError if it cannot start (port taken, journal newer)."""
    from truerail.errors import AccessError, CertificateError, ListenError
    from truerail.service.evaluator import Evaluator
    from truerail.service.front import Front
    from truerail.service.logs import logger
    from truerail.service.round_loop import Watch
    from truerail.web.application import create_app
    from truerail.web.http_server import serve

    sys.setswitchinterval(SWITCH_SECONDS)
    garbage_of_the_young_only()
    journal = await asyncio.to_thread(_journal, settings)
    evaluate = Evaluator.begin(settings)
    recording = await asyncio.to_thread(_recording, settings)
    watch = Watch(settings, targets, plan, transport, evaluate, journal, recording=recording)
    front = Front(watch)
    try:
        app = create_app(front, settings)
    except AccessError as error:
        raise CommandError(str(error)) from error
    watch.outlets += _outlets(settings, watch, app.state.desk.exposition, lambda: front.counters)
    certificates: list[Certificates] = []

    def listening(found: "Listening") -> None:
        certificates.extend(filter(None, [found.certificates]))
        app.state.desk.certificates = found.certificates
        ready(found.url)

    def hang_up() -> None:
        for one in certificates:
            try:
                one.reload()
                one.warn()
            except CertificateError as error:
                logger().error("certificate not reloaded, the old one is kept", error=str(error))
        if reload is None:
            return
        reload(watch)
        try:
            app.state.gate.renew(watch.settings)
        except AccessError as error:
            logger().error("access not reloaded, the old settings are kept", error=str(error))

    evaluate.prepare.append(app.state.desk.exposition.prepare)
    with _signals(stop, hang_up if reload else None):
        serving = asyncio.create_task(serve(app, settings, stop, listening))
        watching = asyncio.create_task(watch.run(stop))
        try:
            await asyncio.wait({serving, watching}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stop.set()
            with suppress(asyncio.CancelledError):
                results = await asyncio.gather(serving, watching, return_exceptions=True)
            await transport.close()
    for result in results:
        if isinstance(result, ListenError | CertificateError):
            raise CommandError(str(result)) from result
        if isinstance(result, BaseException):
            raise result


def run(body: Coroutine[Any, Any, None]) -> None:
    """Runs the service on the fastest available event loop."""
    try:
        import uvloop
    except ImportError:  # not on every platform
        asyncio.run(body)
    else:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(body)


def _journal(settings: "Settings") -> "Journal | None":
    from truerail.errors import JournalUnusableError
    from truerail.journal import open_journal

    try:
        return open_journal(settings.journal) if settings.journal.url else None
    except JournalUnusableError as error:
        raise CommandError(str(error)) from error


def _recording(settings: "Settings") -> "HistoryWriter | None":
    from truerail.errors import HistoryStoreError, MissingExtraError
    from truerail.service.round_loop import utc_now

    if settings.history is None:
        return None
    try:
        from truerail.service.history_writer import HistoryWriter

        return HistoryWriter(settings.history, settings.fabric, utc_now)
    except (HistoryStoreError, MissingExtraError) as error:
        raise CommandError(f"history: {error}") from error


def _outlets(
    settings: "Settings", watch: "Watch", exposition: "Exposition", counters: Callable[[], Mapping[str, float]]
) -> "Iterator[Outlet]":
    """What the settings send to others. Raises CommandError if its packages are missing."""
    from truerail.errors import MissingExtraError

    if settings.otlp:
        from truerail.service.otlp_metrics import OtlpMetrics
        from truerail.service.otlp_session import require_otlp

        try:
            require_otlp()
        except MissingExtraError as error:
            raise CommandError(str(error)) from error
        yield OtlpMetrics(settings.otlp, settings.fabric, exposition, counters, watch.clock)
    if settings.notify or (settings.otlp and settings.otlp.logs):
        from truerail.service.notify.notifier import Notifier

        yield Notifier(settings, watch.journal, watch.clock)


class _signals:  # noqa: N801 - used as a with statement's word
    """SIGINT and SIGTERM end gracefully, a second one at once. SIGHUP reloads; with nothing to reload it also ends,
    because it then means that the terminal was closed.
    """

    def __init__(self, stop: asyncio.Event, reload: Callable[[], None] | None) -> None:
        self._stop, self._reload = stop, reload
        self._loop = asyncio.get_running_loop()

    def __enter__(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._loop.add_signal_handler(number, self._end, number)
        if self._reload:
            self._loop.add_signal_handler(signal.SIGHUP, self._reload)
        elif signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup(1) ignores it on purpose
            self._loop.add_signal_handler(signal.SIGHUP, self._end, signal.SIGHUP)

    def __exit__(self, *_: object) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self._loop.remove_signal_handler(number)

    def _end(self, number: int) -> None:
        self._stop.set()
        self._loop.remove_signal_handler(number)

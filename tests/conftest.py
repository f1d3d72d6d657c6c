"""What holds for every test: no network but loopback, nothing left behind, an end after a minute, and property tests
that do not depend on the machine's speed, and draw the same examples in each run of the CI. And what keeps the run
short: coverage where it is wanted, no garbage collection while tests are collected, a list of the modules that cost
most.
"""

import asyncio
import atexit
import faulthandler
import gc
import inspect
import math
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Iterator
from functools import cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import pytest
import pytest_timeout
import typer.main
import typer.testing
import uvloop
from _pytest.faulthandler import fault_handler_stderr_fd_key
from hypothesis import HealthCheck, settings

from tests import left_over
from tests.draws import draws
from tests.each import HangsError
from tests.patience import limit
from truerail.model.pause import garbage_collection_paused

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.api_client import Api
    from tests.live_site import Run
    from tests.page_site import Site, Watched

settings.register_profile(
    "truerail",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],  # a second of wall time, however much others take of it
    print_blob=True,
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("truerail")

typer.main.get_command = typer.testing._get_command = cache(typer.main.get_command)
"""The command line is made of its declarations once, not for each call: half of a call's time."""

MEASURED = frozenset(
    (
        *("bonds", "collectors_found", "corpus_index", "counter_collectors_host", "counter_collectors_switch"),
        *("cut_answers", "fast_readers", "health_rules", "health_rules_hosts", "held_up", "host_collectors"),
        *("hostile_answers", "ib_devices", "ib_join_fabric", "ib_read", "job_collectors", "job_findings", "lagging"),
        *("load_parallel", "nccl_forms", "nccl_read", "nccl_rules", "one_end_listens", "pasted_answers", "pfc_rules"),
        *("port_states", "qos_counted", "qos_intent", "recordings", "replugged", "round", "rules_cases", "rules_more"),
        *("several_devices", "sweep_rules", "switch_collectors", "unlisted", "witnesses"),
    )
)
"""Test modules in which the coverage of collectors and rules is measured: those that all of it needs. Where it is
measured, a test takes half as long again; the others run the same code, and test it, without.
"""

LONG = (
    *("lab_live", "lab_serve", "demo_faults", "living", "page", "docs_commands", "api_schema", "alerts_end_to_end"),
    *("probe_command", "bus_judges", "bus_fronts", "alerts", "lab_alerts", "processes", "poller_processes"),
    *("lab_ecmp", "recipes", "probe_clos", "history_store", "cli", "slow_polls", "real_lldpd"),
    *("page_storm", "page_as_of", "page_states", "page_frame", "runbooks", "bus_nats", "wheel"),
    *("living_traffic", "grafana_checks", "slurm_real", "probe_kernel", "history_past", "page_history", "alerts_real"),
    *("fuzz_host", "flows_habits", "hostile_answers", "rules_cases", "deploy_ansible", "wired_identity"),
    *("transport_snmp",),
)
"""Modules that take long, or wait for daemons: they begin first, so that none of them is left over to the end."""

_BEGAN, _WATCHED, _FOLDER = pytest.StashKey[float](), pytest.StashKey[float](), pytest.StashKey[str]()
_AGAIN_SECONDS = 10.0
"""After a test was ended because it hung: when it is ended once more, if its teardown hangs too."""
_STUCK_SECONDS, _WATCH_SECONDS = 900.0, 60.0
"""Where that does not help: when Python itself shows where it hangs and ends the worker, counted from a test that began
this much earlier at most.
"""
_COSTLY = 40
"""Modules in the list of those that cost most; it is shown where more than these ran."""
_RARELY = (20_000, 20, 50)
"""Allocations from one collection to the next, and collections of the young and of the middle until an older one."""
_LOOPBACK = ("127.", "::1", "localhost")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Temporary files are in a folder of this worker, in which other users may write as well; Ctrl-C reaches what tests
    start, also where the run itself was started in the background.

    In a worker, pytest-cov starts a measurement when it is loaded and another when the session begins. It ends only
    the second one: the first would then go on in every test, `MEASURED` or not.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:  # nohup: this run goes on, what it starts has the default
        signal.signal(signal.SIGHUP, lambda *_: None)
    if hasattr(session.config, "workerinput") or not session.config.getoption("numprocesses", None):
        session.config._tmp_path_factory.getbasetemp()  # before it would be made there
        tempfile.tempdir = os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="truerail-tests-")
        session.config.stash[_FOLDER] = tempfile.tempdir
        os.chmod(tempfile.tempdir, 0o1777)  # noqa: PTH101 - as /tmp
    uvloop.new_event_loop().close()  # from the first one on, libuv keeps a pipe
    plugin = session.config.pluginmanager.get_plugin("_cov")
    if plugin and plugin.cov_controller and hasattr(session.config, "workerinput"):
        plugin.cov_controller.pause()


def pytest_unconfigure(config: pytest.Config) -> None:
    """A worker that has sent all of its reports ends without freeing a million values, which takes seconds. In a run
    without workers what lasted is let go, so that the types of DuckDB end before their module, which would list them as
    leaked.
    """
    faulthandler.cancel_dump_traceback_later()
    if hasattr(config, "workerinput"):
        atexit.register(os._exit, 0)
    else:
        gc.unfreeze()
    if folder := config.stash.get(_FOLDER, None):
        shutil.rmtree(folder, ignore_errors=True)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Without the garbage collector, which would scan a million values that last until the end, many times over. Then
    it collects more rarely than it does by itself: tests make fabrics of many values, and little of it is garbage.
    """
    with garbage_collection_paused(freeze=True):
        yield
    gc.set_threshold(*_RARELY)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The modules that take long first."""
    rank = {name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: rank.get(_name(item), len(LONG)))


@pytest.fixture(scope="module", autouse=True)
def _nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """A module ends with no process, thread, socket or temporary file of its own."""
    before = left_over.held()
    yield
    if left := left_over.left_over(before, request.node.nodeid):
        pytest.fail("this module leaves\n  " + "\n  ".join(left), pytrace=False)


def _name(item: pytest.Item | pytest.Module) -> str:
    return item.path.stem.removeprefix("test_")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    item.stash[_BEGAN] = _processor_seconds()
    left_over.mark(item.nodeid)
    _watch(item.config)
    _measure(item)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def pytest_timeout_set_timer(item: pytest.Item, settings: pytest_timeout.Settings) -> bool:
    """A test that hangs ends with its processes, and says where it hung; so does its teardown. Many examples take
    longer.
    """
    began, seconds = time.monotonic(), settings.timeout * draws(1, 10)

    def hangs(*_: object) -> None:
        if time.monotonic() - began < limit(seconds):
            return
        ended = left_over.end(f"{item.nodeid} ")
        pytest_timeout.dump_stacks(item.config.get_terminal_writer())
        raise HangsError(f"it hangs: no end after {seconds:.0f} s; its processes were killed: {ended}")

    if not item.config.option.usepdb:
        signal.signal(signal.SIGALRM, hangs)
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_SECONDS)
    return True


def pytest_timeout_cancel_timer() -> bool:
    """Not after a failure either: what follows may hang as well."""
    return True


def _watch(config: pytest.Config) -> None:
    """Its timer is a thread, which is begun once a minute and not in each of thousands of tests."""
    now = time.monotonic()
    if now - config.stash.get(_WATCHED, -math.inf) >= _WATCH_SECONDS and not config.option.usepdb:
        config.stash[_WATCHED] = now
        shown = config.stash[fault_handler_stderr_fd_key]
        faulthandler.dump_traceback_later(_STUCK_SECONDS, exit=True, file=shown)


def pytest_exception_interact(node: pytest.Item | pytest.Collector) -> None:
    """Then pytest ends that timer, for debuggers: the next test begins it again."""
    node.config.stash[_WATCHED] = -math.inf


def _measure(item: pytest.Item) -> None:
    """Coverage, where the module is `MEASURED`; elsewhere not of its fixtures either, which cost as much."""
    plugin = item.config.pluginmanager.get_plugin("_cov")
    coverage, wanted = plugin and plugin.cov_controller, _name(item) in MEASURED
    if coverage and coverage.started != wanted:
        if wanted:
            _forget()
        (coverage.resume if wanted else coverage.pause)()


def _forget() -> None:
    """What functions of collectors and rules keep, so that their lines run again where they are measured."""
    for name, module in sys.modules.copy().items():
        if name.startswith(("collector.", "rules.")):
            for value in vars(module).values():
                if clear := getattr(value, "cache_clear", None):
                    clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The last report of a test has the seconds that it took of a processor, with those of its fixtures and of the
    processes that it waited for.
    """
    report = yield
    if call.when == "teardown":
        report.processor_seconds = _processor_seconds() - item.stash[_BEGAN]  # xdist sends it along
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that is a coroutine runs in an event loop of its own, by its module's `in_loop` if that has one."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    in_loop = getattr(pyfuncitem.module, "in_loop", asyncio.run)
    in_loop(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}))
    return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The modules that cost most, in seconds of a processor: other work on the machine does not change them much."""
    seconds: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if hasattr(report, "processor_seconds"):
                seconds[report.nodeid.partition("::")[0]] += report.processor_seconds
    if len(seconds) > _COSTLY:
        terminalreporter.section(f"processor time: {seconds.total():.0f} s in {len(seconds)} modules")
        for module, spent in seconds.most_common(_COSTLY):
            terminalreporter.write_line(f"{spent:7.1f} s  {module}")


def _processor_seconds() -> float:
    """What this process and those that it waited for have used."""
    return sum(os.times()[:4])


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any connection that would leave the machine fails the test that makes it; no name but localhost is known."""
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not str(address[0]).startswith(_LOOPBACK):
            raise AssertionError(f"a test connects to {address[0]}: only loopback is allowed")
        connect(self, address)

    def known(host: Any, *arguments: Any, **more: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name and name != "localhost" and not _is_address(name):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return look_up(host, *arguments, **more)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    monkeypatch.setattr(socket, "getaddrinfo", known)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> "Run":
    """The command line in this process."""
    from tests.live_site import runner

    return runner(monkeypatch, capsys)


@pytest.fixture(params=["gufo", "pysnmp"])
def engine(request: pytest.FixtureRequest) -> str:
    """Each of the libraries that ask SNMP agents."""
    return str(request.param)


@pytest.fixture
def api() -> "Iterator[Api]":
    """A client of the HTTP API with a service of its own."""
    from tests.api_client import Api

    with Api() as one:
        yield one


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """A Chromium for the tests of one file."""
    from tests.page_site import chromium

    with chromium() as one:
        yield one


@pytest.fixture
def watched(browser: "Browser", site: "Site") -> "Iterator[Watched]":
    """The file's own `site` in the browser: nothing is complained about, and nothing foreign is loaded."""
    from tests.page_site import Watched

    one = Watched(browser, site)
    yield one
    one.close()
    assert one.complaints == []
    assert one.foreign() == []

"""Both SNMP engines against a real snmpd on loopback, whole and in trouble: the same answers, the same errors."""

import asyncio
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.patience import ENOUGH, waited
from tests.ports import free_port
from tests.real import require
from tests.snmpd import AUTH, COMMUNITY, PRIVACY, USERS, Fate, Relay, Snmpd, snmpd
from truerail.errors import TransportError
from truerail.model import Secret, SnmpAccess, Target
from truerail.transport.protocol import Answer
from truerail.transport.snmp_client import SENDS
from truerail.transport.snmp_transport import _LONGEST_PATIENCE, SnmpTransport

WALK = "snmpbulkwalk -On 1.3.6.1.2.1.2.2.1.{1,2} 1.3.6.1.2.1.1"
LONG = "snmpbulkwalk -On 1.3.6.1.2.1"
WRONG = "not-the-secret"
IMPATIENT, LATE = 0.4, 0.45
"""Seconds: how long an answer is waited for where a test says so, and one that comes too late then."""


@pytest.fixture(scope="module")
def agent() -> Iterator[Snmpd]:
    require("snmpd")
    with TemporaryDirectory(prefix="truerail-snmpd-") as folder, snmpd(Path(folder)) as running:
        yield running


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"COMMUNITY": COMMUNITY, "AUTH": AUTH, "PRIVACY": PRIVACY, "WRONG": WRONG}.items():
        monkeypatch.setenv(f"TRUERAIL_TEST_{name}", value)


@pytest.fixture
def stubborn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits for an answer `IMPATIENT` seconds only, and then asks again and again."""
    monkeypatch.setattr("truerail.transport.snmp_transport._LONGEST_PATIENCE", IMPATIENT)
    for module in ("snmp_gufo", "snmp_pysnmp"):
        monkeypatch.setattr(f"truerail.transport.{module}.SENDS", min(255, int(ENOUGH / IMPATIENT)))


def secret(name: str) -> Secret:
    return Secret("env", f"TRUERAIL_TEST_{name}")


def target(port: int, engine: str, user: str = "", timeout: float = ENOUGH) -> Target:
    """A device on loopback, to be asked with v2c, or with v3 as one of USERS."""
    access = SnmpAccess(community=secret("COMMUNITY"), port=port, engine=engine)
    if user:
        auth, _, privacy = user.partition("-")
        access = SnmpAccess("3", None, user, auth, secret("AUTH"), port=port, engine=engine)
        if privacy:
            access = replace(access, privacy_protocol=privacy, privacy=secret("PRIVACY"))
    return Target("leaf-0", "127.0.0.1", snmp=access, timeout_seconds=timeout)


def changed(device: Target, **changes: object) -> Target:
    """The device with another SNMP access."""
    assert device.snmp
    return replace(device, snmp=replace(device.snmp, **changes))  # type: ignore[arg-type]  # any field, any value


async def asked(device: Target, *commands: str) -> list[Answer]:
    transport = SnmpTransport()
    try:
        return await transport.ask(device, commands or (WALK,))
    finally:
        await transport.close()


def answer(device: Target) -> Answer:
    return asyncio.run(asked(device))[0]


def failure(device: Target) -> str:
    """Why a device cannot be asked, which is reported in the time that it has."""
    said, seconds = asyncio.run(waited(asked(device)))
    assert isinstance(said, TransportError)
    assert seconds < device.timeout_seconds + 1.0
    assert not any(word in str(said) for word in (COMMUNITY, AUTH, PRIVACY, WRONG))
    return str(said)


async def relayed(
    agent: Snmpd, engine: str, fate: Fate, timeout: float = ENOUGH, user: str = "", walk: str = WALK
) -> tuple[Answer, int]:
    async with Relay(agent, fate) as relay:
        (one,) = await asked(target(relay.port, engine, user, timeout), walk)
    return one, relay.requests


@pytest.mark.parametrize("user", ["", *USERS])
def test_a_walk_with_every_login(agent: Snmpd, engine: str, user: str) -> None:
    got = answer(target(agent.port, engine, user))
    assert got.error == ""
    lines = got.text.splitlines()
    assert '.1.3.6.1.2.1.2.2.1.2.1 = STRING: "lo"' in lines
    oids = [tuple(map(int, line.partition(" = ")[0][1:].split("."))) for line in lines]
    assert {oid[:10] for oid in oids if oid[6] == 2} == {(1, 3, 6, 1, 2, 1, 2, 2, 1, 1), (1, 3, 6, 1, 2, 1, 2, 2, 1, 2)}
    assert len(oids) == len(set(oids)) > 20


def stable(text: str) -> list[str]:
    """The lines of a walk without sysUpTime and what else counts on."""
    return [line for line in text.splitlines() if not line.startswith(".1.3.6.1.2.1.1.3.0")]


def test_both_engines_give_the_same_text(agent: Snmpd) -> None:
    assert stable(answer(target(agent.port, "gufo")).text) == stable(answer(target(agent.port, "pysnmp")).text)


def test_wrong_community(agent: Snmpd, engine: str) -> None:
    said = failure(changed(target(agent.port, engine, timeout=1.0), community=secret("WRONG")))
    assert said.startswith(f"127.0.0.1 port {agent.port}: no")
    assert said.endswith("no SNMP agent there, filtered, or a wrong community")


@pytest.mark.parametrize("what", ["auth", "user"])
def test_wrong_auth_password_and_unknown_user(agent: Snmpd, engine: str, what: str) -> None:
    right = target(agent.port, engine, "sha256-aes128")
    wrong = changed(right, auth=secret("WRONG")) if what == "auth" else changed(right, user="nobody")
    name = "nobody" if what == "user" else "sha256-aes128"
    assert failure(wrong) == (
        f"127.0.0.1 port {agent.port}: user '{name}' is refused: unknown, a wrong password or protocol"
    )


def test_wrong_privacy_password(agent: Snmpd, engine: str) -> None:
    said = failure(changed(target(agent.port, engine, "sha256-aes128", 1.0), privacy=secret("WRONG")))
    assert "wrong" in said


def test_a_user_may_not_come_without_privacy(agent: Snmpd, engine: str) -> None:
    bare = changed(target(agent.port, engine, "sha256-aes128", 1.0), privacy=None)
    assert f"127.0.0.1 port {agent.port}: " in failure(bare)


def test_a_wrong_password_does_not_spoil_the_right_one_of_the_same_user(agent: Snmpd, engine: str) -> None:
    right = target(agent.port, engine, "sha256-aes128")

    async def both() -> list[list[Answer] | BaseException]:
        transport = SnmpTransport()
        devices = (right, changed(right, auth=secret("WRONG")), right)
        found = await asyncio.gather(*(transport.ask(one, (WALK,)) for one in devices), return_exceptions=True)
        await transport.close()
        return found

    first, wrong, last = asyncio.run(both())
    assert isinstance(wrong, TransportError)
    assert isinstance(first, list)
    assert isinstance(last, list)
    assert [one.error for one in (*first, *last)] == ["", ""]


def test_nobody_listens(engine: str) -> None:
    assert "no SNMP agent there" in failure(target(free_port(), engine, timeout=1.0))


@pytest.mark.usefixtures("stubborn")
@pytest.mark.parametrize("user", ["", "sha256-aes128"])
def test_lost_answers_are_asked_for_again(agent: Snmpd, engine: str, user: str) -> None:
    whole, needed = asyncio.run(relayed(agent, engine, lambda _: 0.0, user=user))
    lossy, requests = asyncio.run(relayed(agent, engine, lambda n: None if n in (3, 5) else 0.0, user=user))
    assert lossy.error == ""
    assert stable(lossy.text) == stable(whole.text)
    assert requests >= needed + 2


@pytest.mark.usefixtures("stubborn")
@pytest.mark.parametrize("user", ["", "sha256-aes128"])
def test_late_answers_are_not_taken_for_others(agent: Snmpd, engine: str, user: str) -> None:
    """An answer that comes after its request was sent again must not stand for the next one's."""
    whole, _ = asyncio.run(relayed(agent, engine, lambda _: 0.0, user=user))
    late, _ = asyncio.run(relayed(agent, engine, lambda n: LATE if n % 4 == 3 else 0.0, user=user))
    assert late.error == ""
    assert stable(late.text) == stable(whole.text)


@pytest.mark.parametrize("user", ["", "sha256-aes128"])
def test_an_agent_that_is_stopped_in_the_middle_of_a_walk(agent: Snmpd, engine: str, user: str) -> None:
    def stop(answers: int) -> float:
        if answers == 3:
            agent.process.send_signal(signal.SIGSTOP)
        return 0.0

    try:
        result, seconds = asyncio.run(waited(relayed(agent, engine, stop, user=user)))
    finally:
        agent.process.send_signal(signal.SIGCONT)
    assert not isinstance(result, BaseException)
    assert result[0].text == ""
    assert f"rows: no answer to {SENDS} requests in " in result[0].error
    assert "the walk broke off after" in result[0].error
    assert seconds < SENDS * _LONGEST_PATIENCE + 1.0


def test_after_a_broken_walk_no_other_is_tried(agent: Snmpd, engine: str) -> None:
    async def twice() -> list[Answer]:
        async with Relay(agent, lambda n: 0.0 if n < 4 else None) as relay:
            return await asked(target(relay.port, engine), LONG, WALK)

    broken, other = asyncio.run(twice())
    assert broken.error
    assert other.error == f"not asked, because an earlier walk failed: {broken.error}"


def test_a_slow_agent_meets_the_deadline(agent: Snmpd, engine: str) -> None:
    result, seconds = asyncio.run(waited(relayed(agent, engine, lambda _: 0.3, 4.0, walk=LONG)))
    assert not isinstance(result, BaseException)
    assert result[0].error.endswith("rows: not done within 4 s")
    assert seconds < 5.0


def test_another_agent_at_the_same_address(tmp_path: Path) -> None:
    """A switch that was replaced has another engine id: what was known of the old one must not bar the new one.

    gufo alone: pysnmp needs five minutes to forget.
    """
    require("snmpd")

    async def replaced() -> list[str]:
        transport = SnmpTransport()
        errors = []
        with (
            snmpd(tmp_path / "old", engine_id="truerail-old") as old,
            snmpd(tmp_path / "new", engine_id="truerail-new") as new,
        ):
            async with Relay(old) as relay:
                for agent in (old, new):
                    relay.lead_to(agent)
                    (got,) = await transport.ask(target(relay.port, "gufo", "sha256-aes128"), (WALK,))
                    errors.append(got.error if got.text else "nothing")
        await transport.close()
        return errors

    assert asyncio.run(replaced()) == ["", ""]


def test_one_agent_is_walked_once_at_a_time(agent: Snmpd, engine: str) -> None:
    async def crowd() -> list[list[Answer]]:
        transport = SnmpTransport()
        async with Relay(agent) as relay:  # it answers the client that asked last: two at once would starve
            device = target(relay.port, engine)
            found = await asyncio.gather(*(transport.ask(device, (WALK,)) for _ in range(10)))
        await transport.close()
        return found

    assert {(one.error, one.text != "") for answers in asyncio.run(crowd()) for one in answers} == {("", True)}


def test_walks_are_bounded_overall(agent: Snmpd, engine: str) -> None:
    """Two slow agents, one turn: the second is asked when the first is done, and has its whole deadline then."""

    async def both() -> tuple[float, set[str]]:
        transport = SnmpTransport(at_once={engine: 1})
        async with Relay(agent, lambda _: 0.05) as a, Relay(agent, lambda _: 0.05) as b:
            loop = asyncio.get_running_loop()
            started = loop.time()
            devices = [target(relay.port, engine) for relay in (a, b)]
            found = await asyncio.gather(*(transport.ask(device, (WALK,)) for device in devices))
            took = loop.time() - started
            await transport.close()
            return took / (0.05 * (a.requests + b.requests)), {one.error for answers in found for one in answers}

    ratio, errors = asyncio.run(both())
    assert errors == {""}
    assert ratio >= 1.0


def test_commands_that_are_no_walk_are_not_sent(agent: Snmpd, engine: str) -> None:
    named, walked = asyncio.run(asked(target(agent.port, engine), "device.snmprec", WALK))
    assert (named.text, named.error) == ("", "not a walk, and SNMP can ask nothing else")
    assert (walked.error, walked.text != "") == ("", True)


def test_a_subtree_that_the_agent_does_not_have(agent: Snmpd, engine: str) -> None:
    (got,) = asyncio.run(asked(target(agent.port, engine), "snmpbulkwalk -On 1.0.8802.1.1.2.1.4"))
    assert (got.text, got.error) == ("", "")


def test_a_walk_to_the_end_of_all(agent: Snmpd, engine: str) -> None:
    """The last subtree of an agent ends with endOfMibView."""
    (got,) = asyncio.run(asked(target(agent.port, engine), "snmpbulkwalk -On 1.3.6.1.6"))
    assert got.error == ""
    assert got.text.startswith(".1.3.6.1.6.3.")


@pytest.mark.parametrize(
    ("access", "why"),
    [
        (None, "says nothing of SNMP"),
        (SnmpAccess(), "refers to none"),
        (SnmpAccess("1", secret("COMMUNITY")), "version '1' is not supported"),
        (
            SnmpAccess(community=secret("ABSENT")),
            "SNMP community: environment variable TRUERAIL_TEST_ABSENT is not set",
        ),
        (SnmpAccess("3"), "names none"),
        (SnmpAccess("3", user="u", privacy=secret("PRIVACY")), "no privacy without authentication"),
        (SnmpAccess("3", user="u", auth=secret("AUTH"), auth_protocol="crc"), "auth protocol 'crc' is not known: md5"),
        (SnmpAccess(community=secret("COMMUNITY"), engine="perl"), "engine 'perl' is not known"),
    ],
)
def test_access_that_cannot_be_used(access: SnmpAccess | None, why: str) -> None:
    assert why in failure(Target("leaf-0", "127.0.0.1", snmp=access))


def test_short_passwords_are_named_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUERAIL_TEST_AUTH", "short")
    said = failure(Target("leaf-0", "127.0.0.1", snmp=SnmpAccess("3", user="u", auth=secret("AUTH"))))
    assert said == "the SNMP v3 auth password is shorter than 8 characters"


def test_a_name_that_nobody_knows(engine: str) -> None:
    device = replace(target(161, engine), address="no-such-switch.invalid")
    assert failure(device).startswith("no-such-switch.invalid port 161: the name is not known")


@pytest.mark.parametrize(
    ("wanted", "made"), [("auto", "GufoClient"), ("gufo", "GufoClient"), ("pysnmp", "PysnmpClient")]
)
def test_auto_prefers_gufo(agent: Snmpd, wanted: str, made: str) -> None:
    async def used() -> list[str]:
        transport = SnmpTransport()
        await transport.ask(target(agent.port, wanted), (WALK,))
        names = [type(client).__name__ for client in transport._clients.values()]
        await transport.close()
        return names

    assert asyncio.run(used()) == [made]


def test_without_gufo_auto_is_pysnmp_and_gufo_is_an_error(agent: Snmpd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("truerail.transport.snmp_transport.find_spec", lambda name: None)
    assert answer(target(agent.port, "auto")).text
    assert failure(target(agent.port, "gufo")) == "SNMP engine gufo is wanted, but gufo_snmp is not installed here"

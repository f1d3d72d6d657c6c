"""A connection to a real NATS server: its login, and what is left of it when the server ends it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from nats.aio.transport import TcpTransport
from nkeys import PREFIX_BYTE_USER, encode_seed, from_seed

from tests.nats_bus import nats_server
from tests.patience import until
from truerail.errors import BusError
from truerail.link.nats_link import Bus, BusAddress


def test_the_wrong_login_and_a_bus_that_is_off_are_named_with_the_address(tmp_path: Path) -> None:
    async def opened(address: BusAddress) -> None:
        bus = Bus(address, "test", "_INBOX.test", lambda _: None)
        await bus.open()
        await bus.close()

    right, wrong = (from_seed(encode_seed(bytes([one] * 32), PREFIX_BYTE_USER)) for one in (1, 2))
    login = f"authorization {{ users: [ {{ nkey: {right.public_key.decode()} }} ] }}"
    for name, key in (("right", right), ("wrong", wrong)):
        (tmp_path / name).write_bytes(bytes(key.seed) + b"\n")
    with nats_server(tmp_path, login) as started:
        asyncio.run(opened(BusAddress(started.url, tmp_path / "right")))
        for creds in (tmp_path / "wrong", None):
            with pytest.raises(BusError, match=rf"bus {started.url}: .*Authorization Violation"):
                asyncio.run(opened(BusAddress(started.url, creds)))
        (tmp_path / "bad").write_text("no seed")
        with pytest.raises(BusError, match=f"{tmp_path}/bad: neither an nkey seed nor NATS credentials"):
            asyncio.run(opened(BusAddress(started.url, tmp_path / "bad")))
    with pytest.raises(BusError, match=rf"bus {started.url}: .*[Cc]onnect"):
        asyncio.run(opened(BusAddress(started.url)))


async def test_a_bus_that_cuts_connections_off_leaves_none_of_them_open(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[asyncio.StreamWriter] = []
    connect = TcpTransport.connect

    async def noted(self: TcpTransport, *how: Any, **named: Any) -> None:
        await connect(self, *how, **named)
        made.append(self._io_writer)

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(made) < 2:  # the first connection lasts until it is made
            writer.write(b'INFO {"max_payload":1048576}\r\n')
            await reader.readuntil(b"PING")
            writer.write(b"PONG\r\n")
            await writer.drain()
        writer.close()

    monkeypatch.setattr(TcpTransport, "connect", noted)
    server = await asyncio.start_server(served, "127.0.0.1", 0)
    bus = Bus(BusAddress(f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}"), "test", "_INBOX.test", print)
    await bus.open()
    await until(lambda: len(made) > 3)
    assert all(writer.is_closing() for writer in made[:-1])
    await bus.close()
    assert made[-1].is_closing()
    server.close()

"""The real server on loopback: TLS, certificates that are renewed, clients that dawdle, and the end."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.access_site import OPERATOR, WITH_TOKENS, Site, settings
from tests.patience import ENOUGH
from truerail.errors import CertificateError, ListenError
from truerail.service.settings import Tls
from truerail.web import connection_limits, http_server
from truerail.web.access.tls import Certificates
from truerail.web.http_server import Listening, listen, serve

Visit = Callable[[Listening], Awaitable[Any]]


def during(visit: Visit, access: dict[str, Any] | None = None, **http: Any) -> Any:
    """What a visit to a running service gives; the service is stopped behind it."""
    site = Site(access, {"port": 0, **http})

    async def running() -> Any:
        stop = asyncio.Event()
        up: asyncio.Future[Listening] = asyncio.get_running_loop().create_future()
        server = asyncio.create_task(serve(site.app, settings(access, {"port": 0, **http}), stop, up.set_result))
        try:
            listening = await asyncio.wait_for(up, ENOUGH)
            return await asyncio.wait_for(visit(listening), ENOUGH)
        finally:
            stop.set()
            await asyncio.wait_for(server, ENOUGH)

    return asyncio.run(running())


def certificate(folder: Path, name: str = "first", lasts: timedelta = timedelta(hours=1)) -> dict[str, str]:
    """A self-signed certificate for loopback, as files."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=1))
        .not_valid_after(now + lasts)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    files = {"certificate": folder / "cert.pem", "key": folder / "key.pem"}
    files["certificate"].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    files["key"].write_bytes(_pem(key, serialization.NoEncryption()))
    return {what: str(path) for what, path in files.items()}


def _pem(key: ec.EllipticCurvePrivateKey, locked: serialization.KeySerializationEncryption) -> bytes:
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, locked)


async def spoken(listening: Listening, said: bytes) -> bytes:
    """All that the service answers to some bytes until it closes the connection; empty where it resets it."""
    reader, writer = await asyncio.open_connection(listening.host, listening.port)
    writer.write(said)
    try:
        return await asyncio.wait_for(reader.read(), ENOUGH)
    except ConnectionResetError:
        return b""
    finally:
        await closed(writer)


async def closed(writer: asyncio.StreamWriter) -> None:
    """Closes a connection to its end, which with TLS takes an answer: what is left is collected in another test."""
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


def test_port_0_tells_the_real_port_and_the_server_hides_what_it_is() -> None:
    async def visit(listening: Listening) -> httpx.Response:
        assert listening.url == f"http://127.0.0.1:{listening.port}/"
        assert listening.port
        assert listening.certificates is None
        async with httpx.AsyncClient() as client:
            return await client.get(f"{listening.url}api/v1/me")

    answer = during(visit)
    assert answer.json()["name"] == "local"
    assert "server" not in answer.headers


def test_a_forwarded_address_from_this_machine_is_not_believed() -> None:
    access = {"trusted_proxy": {"addresses": ["10.1.0.0/24"]}}

    async def visit(listening: Listening) -> int:
        async with httpx.AsyncClient() as client:
            claims = {"X-Forwarded-For": "10.1.0.7", "X-Forwarded-User": "eve"}
            return (await client.get(f"{listening.url}api/v1/me", headers=claims)).status_code

    assert during(visit, access) == 401


def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            ListenError, match=rf"http.host 127.0.0.1, http.port {port}: something listens there already"
        ):
            listen("127.0.0.1", port)


def test_a_host_that_is_not_ours_is_named() -> None:
    with pytest.raises(ListenError, match=r"http.host 192\.0\.2\.1, http.port 0: cannot listen there"):
        listen("192.0.2.1", 0)
    with pytest.raises(ListenError, match=r"http.host no such host, .*: no such host"):
        listen("no such host", 0)


def test_every_address_of_localhost_is_listened_to_on_one_port() -> None:
    found = listen("localhost", 0)
    try:
        assert len({one.getsockname()[1] for one in found}) == 1
        assert len({one.family for one in found}) == len(found)
    finally:
        for one in found:
            one.close()


def test_tls_is_1_2_or_newer_and_its_sessions_are_for_it_alone(tmp_path: Path) -> None:
    files = certificate(tmp_path)
    trust = ssl.create_default_context(cafile=files["certificate"])

    async def visit(listening: Listening) -> list[Any]:
        assert listening.url.startswith("https://")
        async with httpx.AsyncClient(verify=trust) as client:
            answer = await client.post(f"{listening.url}login", json={"token": OPERATOR})
            seen = await client.get(f"{listening.url}api/v1/me")
        ciphers = ("ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA256")
        taken = [await speaks(listening, cipher) for cipher in ciphers]
        return [answer.headers["set-cookie"].partition("=")[0], seen.json()["name"], *taken]

    async def speaks(listening: Listening, cipher: str) -> bool:
        context = ssl.create_default_context(cafile=files["certificate"])
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(cipher)
        try:
            _, writer = await asyncio.open_connection(listening.host, listening.port, ssl=context)
        except (ssl.SSLError, ConnectionResetError):
            return False
        await closed(writer)
        return True

    assert during(visit, WITH_TOKENS, tls=files) == ["__Host-truerail", "otto", True, False]


def test_a_renewed_certificate_is_taken_over_and_a_bad_one_is_not(tmp_path: Path) -> None:
    files = certificate(tmp_path)

    async def shown(listening: Listening) -> str:
        context = ssl.create_default_context(cafile=files["certificate"])
        context.verify_mode = ssl.CERT_REQUIRED
        _, writer = await asyncio.open_connection(listening.host, listening.port, ssl=context)
        subject = writer.get_extra_info("peercert")["subject"]
        await closed(writer)
        return str(subject[0][0][1])

    async def visit(listening: Listening) -> list[str]:
        assert listening.certificates
        names = [await shown(listening)]
        certificate(tmp_path, "second")
        listening.certificates.reload()
        names.append(await shown(listening))
        good = Path(files["key"]).read_bytes()
        Path(files["key"]).write_bytes(_pem(ec.generate_private_key(ec.SECP256R1()), serialization.NoEncryption()))
        with pytest.raises(CertificateError, match=r"key\.pem: is not the key of .*cert\.pem"):
            listening.certificates.reload()
        Path(files["key"]).write_bytes(good)
        return [*names, await shown(listening)]

    assert during(visit, tls=files) == ["first", "second", "second"]


def test_a_certificate_that_cannot_be_used_names_the_file(tmp_path: Path) -> None:
    tls = Tls(**{name: Path(path) for name, path in certificate(tmp_path).items()})
    locked = _pem(ec.generate_private_key(ec.SECP256R1()), serialization.BestAvailableEncryption(b"secret"))
    key, chain = tls.key.read_bytes(), tls.certificate.read_bytes()
    for file, content, summary in (
        (tls.key, locked, r"key\.pem: is locked with a password"),
        (tls.key, b"nonsense", r"key\.pem: holds no private key in PEM"),
        (tls.certificate, b"nonsense", r"cert\.pem: holds no certificate in PEM"),
        (tls.key, None, r"key\.pem: No such file"),
    ):
        tls.key.write_bytes(key)
        tls.certificate.write_bytes(chain)
        file.unlink() if content is None else file.write_bytes(content)
        with pytest.raises(CertificateError, match=summary):
            Certificates(tls)


def test_event_streams_end_when_the_service_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "GRACE_SECONDS", 0.2)
    site = Site(None, {"port": 0})

    async def running() -> bytes:
        stop = asyncio.Event()
        up: asyncio.Future[Listening] = asyncio.get_running_loop().create_future()
        server = asyncio.create_task(serve(site.app, settings(None, {"port": 0}), stop, up.set_result))
        listening = await up
        reader, writer = await asyncio.open_connection(listening.host, listening.port)
        writer.write(b"GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n")
        begun = b"".join([await reader.readuntil(b"data: x") for _ in range(2)])
        stop.set()
        rest = await reader.read()
        await server
        await closed(writer)
        return begun + rest

    answer = asyncio.run(asyncio.wait_for(running(), ENOUGH))
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert answer.endswith(b"0\r\n\r\n"), "the stream is ended, not torn"


def test_a_client_that_never_ends_its_headers_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "HEAD_SECONDS", 1.0)

    async def visit(listening: Listening) -> list[bytes]:
        whole = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        said = (b"", b"GET / HTTP/1.1\r\nHost: loc", whole + b"GET /hea")
        return list(await asyncio.gather(*(spoken(listening, some) for some in said)))

    silent, slow, second = during(visit)
    assert (silent, slow) == (b"", b"")
    assert second.startswith(b"HTTP/1.1 200 OK")


def test_silent_connections_keep_no_reader_out(monkeypatch: pytest.MonkeyPatch) -> None:
    most = 20
    for module in (connection_limits, http_server):
        monkeypatch.setattr(module, "MOST_CONNECTIONS", most)

    async def visit(listening: Listening) -> tuple[list[int], bool]:
        said = (b"", b"GET /health", b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n")
        silent = [await asyncio.open_connection(listening.host, listening.port) for _ in range(3 * most)]
        for (_, writer), some in zip(silent, said * most, strict=True):
            writer.write(some)
        first = await asyncio.wait_for(silent[0][0].read(), ENOUGH)  # the oldest is closed for a newer one
        async with httpx.AsyncClient() as client:
            found = [(await client.get(f"{listening.url}healthz")).status_code for _ in range(most)]
            limits = httpx.Limits(max_keepalive_connections=0)
            async with httpx.AsyncClient(limits=limits) as others:
                again = await asyncio.gather(*(others.get(f"{listening.url}healthz") for _ in range(most // 2)))
        for _, writer in silent:
            await closed(writer)
        return [*found, *(answer.status_code for answer in again)], first == b""

    assert during(visit) == ([200] * (most + most // 2), True)


def test_headers_without_end_are_refused_and_not_kept() -> None:
    async def visit(listening: Listening) -> list[bytes]:
        endless = b"x" * (connection_limits.MOST_HEAD_BYTES * 8)
        trailer = b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: "
        return [
            await spoken(listening, b"GET / HTTP/1.1\r\nX-Long: " + endless),
            await spoken(listening, trailer + endless),
            await spoken(listening, b"nonsense\r\n\r\n"),
        ]

    long, trailers, nonsense = during(visit)
    assert trailers == b""
    assert long.startswith(b"HTTP/1.1 431 ")
    assert nonsense.startswith(b"HTTP/1.1 400 ")


def test_a_body_of_the_full_size_passes_in_chunks_and_whole() -> None:
    async def visit(listening: Listening) -> list[int]:
        async def chunks() -> Any:
            for _ in range(1024):
                yield b"x" * 1024

        async with httpx.AsyncClient() as client:
            address = f"{listening.url}api/v1/recheck"
            answers = [await client.post(address, content=content) for content in (b"x" * (1 << 20), chunks())]
        return [answer.json()["bytes"] for answer in answers]

    assert during(visit) == [1 << 20, 1 << 20]

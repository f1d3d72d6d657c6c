"""`truerail bus init` and `truerail bus check`, with a real nats-server that has the files they write."""

import re
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.live_site import Run
from tests.patience import soon
from tests.ports import free_address
from tests.real import require
from tests.test_access_serve import certificate
from truerail.errors import BusError
from truerail.link.server_files import public_key, users, users_text
from truerail.link.subjects import Subjects

ZONES = ("dc1", "dc2")


@contextmanager
def serving(folder: Path, configuration: Path) -> Iterator[None]:
    """A server with a configuration. It listens when it has written its ports."""
    require("nats-server")
    process = subprocess.Popen(["nats-server", "-c", configuration, "-l", folder / "log"])
    try:
        soon(lambda: "Server is ready" in (folder / "log").read_text() if (folder / "log").exists() else False)
        yield
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A server for two zones as `bus init` sets it up, with TLS; its streams are not made yet."""
    folder = tmp_path_factory.mktemp("bus")
    files, listen = certificate(folder), free_address()
    words = ["--listen", listen, "--store", folder / "store", "--out", folder / "out"]
    words += ["--tls-cert", files["certificate"], "--tls-key", files["key"], "--zones", ",".join(ZONES)]
    command = [sys.executable, "-m", "truerail", "bus", "init", *map(str, words)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    out, printed = folder / "out", done.stdout + done.stderr
    with serving(folder, out / "nats-server.conf"):
        yield SimpleNamespace(out=out, url=f"tls://{listen}", ca=files["certificate"], printed=printed)


def test_keys_are_for_their_owner_alone_and_never_shown(site: SimpleNamespace) -> None:
    seeds = {file.name: file.read_text().strip() for file in site.out.glob("*.nk")}
    assert sorted(seeds) == ["front.nk", "judge.nk", "operator.nk", "poller-dc1.nk", "poller-dc2.nk"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in site.out.glob("*.nk")} == {0o600}
    texts = site.printed + (site.out / "users.conf").read_text() + (site.out / "nats-server.conf").read_text()
    assert not [name for name, seed in seeds.items() if seed in texts]
    assert all(name in site.printed for name in seeds)


def test_init_makes_the_streams_and_all_rights_are_as_they_must_be(site: SimpleNamespace, run: Run) -> None:
    at = ("--bus", site.url, "--ca", site.ca)
    code, out, _ = run("bus", "check", *at, "--creds", site.out / "judge.nk")
    missing = out.count("missing: truerail bus init --bus makes it")
    assert (code, missing) in ((1, 4), (0, 0))  # the latter where another test has made them
    code, out, _ = run("bus", "init", "--zones", "dc1,dc2", "--out", site.out, *at)
    assert code == 0
    assert out.count("made    stream") == missing
    assert "all streams are there" in run("bus", "init", "--zones", "dc1,dc2", "--out", site.out, *at)[1]
    for role in (
        ("judge.nk",),
        ("front.nk", "--role", "front"),
        ("poller-dc1.nk", "--zone", "dc1"),
        ("poller-dc2.nk", "--zone", "dc2"),
    ):
        code, out, err = run("bus", "check", *at, "--creds", site.out / role[0], *role[1:])
        assert (code, err) == (0, "")
        assert "TLS" in out.splitlines()[0]
        assert "All rights are as they must be." in out
        assert out.count("refused as it must be") >= 7


def test_a_key_of_another_role_is_found_out_and_nothing_is_changed(site: SimpleNamespace, run: Run) -> None:
    """An operator may delete streams: tried with its key, each attempt is accepted and has no effect."""
    at = ("--bus", site.url, "--ca", site.ca)
    run("bus", "init", "--zones", "dc1,dc2", "--out", site.out, *at)
    code, out, _ = run("bus", "check", *at, "--creds", site.out / "poller-dc2.nk", "--zone", "dc1")
    assert code == 1
    assert re.search("REFUSED, but needed +report a device of zone dc1", out)
    code, out, _ = run("bus", "check", *at, "--creds", site.out / "judge.nk", "--role", "front")
    assert code == 1
    assert re.search("REFUSED, but needed +read the view", out)
    assert re.search("NOT refused +report a view", out)
    code, out, _ = run("bus", "check", *at, "--creds", site.out / "operator.nk")
    assert code == 1
    for verb in ("delete", "purge", "change"):
        assert re.search(f"NOT refused +{verb} the stream tr-obs-fabric", out)
    code, out, _ = run("bus", "check", *at, "--creds", site.out / "judge.nk")
    assert (code, out.count("0 messages, 0.0 MB")) == (0, 4)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (lambda site: ("--bus", site.url, "--ca", site.ca), "it refuses a connection without --creds"),
        (lambda site: ("--bus", site.url, "--creds", site.out / "judge.nk"), "its certificate is not trusted"),
        (lambda site: ("--bus", f"tls://{free_address()}", "--ca", site.ca), "Connect call failed"),
        (lambda site: ("--bus", site.url.replace("tls:", "http:")), "expected tls://HOST:PORT"),
        (lambda site: ("--bus", site.url, "--role", "fron"), "--role fron: expected one of poller, judge, front"),
        (lambda site: ("--bus", site.url, "--role", "poller"), "--role poller needs --zone"),
        (lambda site: ("--bus", site.url, "--role", "front", "--zone", "a"), "--zone is for a poller, not for a front"),
        (lambda site: ("--bus", site.url, "--creds", site.out / "nobody.nk"), "nobody.nk: there is no such file"),
    ],
)
def test_what_is_wrong_is_named(
    site: SimpleNamespace, run: Run, words: Callable[[SimpleNamespace], tuple[object, ...]], problem: str
) -> None:
    code, out, err = run("bus", "check", *words(site))
    assert (code, out) == (2, "")
    assert problem in err
    assert "Traceback" not in err


def test_a_key_that_the_server_does_not_know(site: SimpleNamespace, run: Run, tmp_path: Path) -> None:
    public_key(tmp_path / "other.nk")
    code, _, err = run("bus", "check", "--bus", site.url, "--ca", site.ca, "--creds", tmp_path / "other.nk")
    assert code == 2
    assert f"it refuses the login by {tmp_path / 'other.nk'}" in err


def test_a_server_without_encryption_or_jetstream_is_refused(run: Run, tmp_path: Path) -> None:
    listen = free_address()
    host, port = listen.split(":")
    (tmp_path / "plain.conf").write_text(f"host: {host}\nport: {port}\n")
    with serving(tmp_path, tmp_path / "plain.conf"):
        code, _, err = run("bus", "check", "--bus", f"tls://{listen}")
        assert code == 2
        assert "it does not encrypt" in err
        code, _, err = run("bus", "check", "--bus", f"nats://{listen}")
        assert code == 2
        assert "JetStream is not enabled" in err


def test_existing_files_stay_and_another_zone_gets_its_own(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("bus", "init", "--zones", "dc1,dc2", "--out", out)
    before = {file.name: file.read_text() for file in out.iterdir()}
    (out / "nats-server.conf").write_text(before["nats-server.conf"] + "# ours\n")
    code, text, _ = run("bus", "init", "--zones", "dc1,dc3", "--out", out)
    assert code == 0
    assert f"unused  {out}/poller-dc2.nk" in text
    after = {file.name: file.read_text() for file in out.iterdir()}
    assert all(after[name] == before[name] for name in before if name.endswith(".nk"))
    assert after["nats-server.conf"].endswith("# ours\n")
    assert "obs.dc3.*" in after["users.conf"]
    assert "obs.dc2.*" not in after["users.conf"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--zones", "dc1,d.c"), "zone 'd.c': expected letters, digits, _ and -, at most 64"),
        (("--zones", "dc1,>"), "zone '>'"),
        (("--zones", ""), "zone ''"),
        (("--listen", "0.0.0.0:4222"), "--listen 0.0.0.0:4222: others can reach it"),
        (("--listen", "4222"), "--listen 4222: expected HOST:PORT"),
        (("--tls-cert", "cert.pem"), "--tls-key: give certificate and key together"),
        (("--tls-cert", "no.pem", "--tls-key", "no.pem"), "no.pem: there is no such file"),
    ],
)
def test_bad_options_write_nothing(run: Run, tmp_path: Path, words: tuple[str, ...], problem: str) -> None:
    code, _, err = run("bus", "init", "--out", tmp_path / "out", *words)
    assert code == 2
    assert problem in err
    assert not (tmp_path / "out").exists()


def test_a_file_without_a_seed_is_named_and_its_content_is_not(tmp_path: Path) -> None:
    (tmp_path / "judge.nk").write_text("SUsecret")
    with pytest.raises(BusError, match=r"judge.nk: no seed of an nkey") as failure:
        public_key(tmp_path / "judge.nk")
    assert "SUsecret" not in str(failure.value)


def test_an_odd_name_of_a_fabric_stays_inside_its_quotes(tmp_path: Path) -> None:
    """The server reads what is written, for any name that the settings accept."""
    require("nats-server")
    subjects = Subjects('pod "7" } $HOME > *.\\')
    known = list(users(subjects, ["a"]))
    keys = {user.name: public_key(tmp_path / user.name) for user in known}
    (tmp_path / "users.conf").write_text(users_text(subjects, known, keys))
    (tmp_path / "nats.conf").write_text('include "users.conf"\n')
    done = subprocess.run(["nats-server", "-t", "-c", tmp_path / "nats.conf"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_pollers_of_two_zones_share_no_right_to_publish() -> None:
    found = {user.name: user for user in users(Subjects("f1"), ["a", "ab"])}
    own, other = (set(found[name].publish) for name in ("poller-a", "poller-ab"))
    assert own & other == {"$JS.API.STREAM.INFO.tr-obs-f1"}
    assert not [right for right in found["judge"].publish if ".obs." in right or "STREAM.DELETE" in right]

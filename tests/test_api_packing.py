"""Large answers are packed for clients that take gzip; streams, pages and what is somebody's own never are."""

import gzip
import json

import pytest

from tests.api_client import Api
from truerail.web.answering import LEAST_BYTES, takes_gzip

PACKED = {"Accept-Encoding": "gzip"}
PLAIN = {"Accept-Encoding": "identity"}


@pytest.mark.parametrize(
    ("accepted", "takes"),
    [
        ("gzip", True),
        ("deflate, GZIP;q=0.5", True),
        ("*", True),
        ("br;q=1.0, *;q=0.1", True),
        ("", False),
        ("identity", False),
        ("br", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
        ("*;q=0", False),
        ("x-gzipped", False),
    ],
)
def test_who_takes_gzip(accepted: str, takes: bool) -> None:
    assert takes_gzip(accepted) is takes


@pytest.mark.parametrize("path", ["cables?limit=1000", "devices?limit=1000", "map", "diff?planned=true"])
def test_a_large_answer_is_the_same_in_both_forms(path: str) -> None:
    with Api() as api:
        plain, packed = api.ask("GET", path, headers=PLAIN), api.ask("GET", path, headers=PACKED)
        again = api.ask("GET", path, headers={**PACKED, "If-None-Match": packed.headers["etag"]})
    assert "content-encoding" not in plain.headers
    assert plain.json() == packed.json()
    assert plain.headers["etag"] == packed.headers["etag"]
    assert "Accept-Encoding" in plain.headers["vary"]
    if len(plain.content) >= LEAST_BYTES:
        assert packed.headers["content-encoding"] == "gzip"
        assert int(packed.headers["content-length"]) < len(plain.content) / 3
        assert "Accept-Encoding" in packed.headers["vary"]
    assert (again.status_code, again.content) == (304, b"")


def test_some_answer_is_large_enough_to_be_packed_and_is_packed_once() -> None:
    with Api() as api:
        first = api.ask("GET", "cables?limit=1000", headers=PACKED)
        kept = dict(api.app.state.desk._shown._kept)
        api.ask("GET", "cables?limit=1000", headers=PACKED)
        assert api.app.state.desk._shown._kept == kept
    assert first.headers["content-encoding"] == "gzip"
    forms = [body for key, body in kept.items() if key.endswith(" gzip")]
    assert [json.loads(gzip.decompress(body)) for body in forms] == [first.json()]


@pytest.mark.parametrize("path", ["me", "findings?limit=1", "acknowledgements", "//", "//openapi.json"])
def test_what_is_small_or_somebodys_own_goes_as_it_is(path: str) -> None:
    with Api() as api:
        answer = api.ask("GET", path, headers=PACKED)
    assert answer.status_code == 200
    assert "content-encoding" not in answer.headers

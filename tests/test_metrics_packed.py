"""The metrics as gzip: one file that every reader takes, compressed once for a publication."""

import gzip
import subprocess
import zlib
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.api_client import Api
from tests.metrics_pages import COUNTERS, NOW, published, with_traffic
from truerail.analysis.published import Published
from truerail.outputs.metrics import Exposition
from truerail.outputs.metrics.scrape_page import PackedText
from truerail.simulator import Noise, Shape, simulate


def simulated(pods: int) -> Published:
    simulation = simulate(Shape(hosts=16, rails=4, pods=pods, spines=2, uplinks=4), 3, Noise(), seed=5)
    return with_traffic(published(simulation.plan, simulation.snapshot()))


@given(st.lists(st.binary(max_size=2000)), st.binary(max_size=2000), st.binary(max_size=2000))
def test_any_text_comes_back_with_whatever_followed_it(parts: list[bytes], rest: bytes, later: bytes) -> None:
    packed = PackedText(parts)
    for tail in (rest, later):
        whole = packed.followed_by(tail)
        assert gzip.decompress(whole) == b"".join([*parts, tail])
        reader = zlib.decompressobj(16 + zlib.MAX_WBITS)
        assert reader.decompress(whole) == b"".join([*parts, tail])
        assert (reader.eof, reader.unused_data) == (True, b""), "one member: some readers stop after the first"


@pytest.mark.parametrize("pod", [None, "p1", "-"])
def test_the_packed_page_is_the_plain_page(pod: str | None) -> None:
    publication, exposition = simulated(2), Exposition()
    for now in (NOW, NOW + timedelta(minutes=1)):
        plain = exposition.render(publication, pod, COUNTERS, now)
        packed = exposition.packed(publication, pod, COUNTERS, now)
        assert gzip.decompress(packed) == plain
        done = subprocess.run(["gzip", "-dc"], input=packed, capture_output=True, check=True)
        assert done.stdout == plain
        assert len(packed) < len(plain) / 3


def test_a_publication_is_compressed_once_and_a_newer_one_again() -> None:
    publication, exposition = simulated(1), Exposition()
    exposition.packed(publication, None, COUNTERS, NOW)
    page = exposition.page_of(publication)
    kept = page.packed[None]
    exposition.packed(publication, None, COUNTERS, NOW + timedelta(seconds=15))
    assert page.packed == {None: kept}
    newer = replace(publication, number=publication.number + 1)
    assert b"evaluation_number" in gzip.decompress(exposition.packed(newer, None, COUNTERS, NOW))
    assert exposition.page_of(newer) is not page


def test_a_pod_that_the_plan_lacks_is_named_in_both_forms() -> None:
    publication, exposition = simulated(1), Exposition()
    with pytest.raises(LookupError, match="no pod is called 'p9'"):
        exposition.packed(publication, "p9", COUNTERS, NOW)


def test_before_the_first_evaluation_the_service_speaks_of_itself_in_both_forms() -> None:
    exposition = Exposition()
    assert gzip.decompress(exposition.packed(None, None, COUNTERS, NOW)) == exposition.render(None, None, COUNTERS, NOW)
    assert gzip.decompress(exposition.packed(None, "p1", COUNTERS, NOW)) == b""


@pytest.mark.parametrize(("accepted", "packs"), [("gzip", True), ("identity", False), ("gzip;q=0", False)])
def test_a_scraper_gets_what_it_takes(accepted: str, packs: bool) -> None:
    with Api() as api:
        answer = api.ask("GET", "//metrics", headers={"Accept-Encoding": accepted})
    assert answer.status_code == 200
    assert (answer.headers.get("content-encoding") == "gzip") is packs
    assert "Accept-Encoding" in answer.headers["vary"]
    assert "truerail_evaluation_number" in answer.text

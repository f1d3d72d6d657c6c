"""What a browser gets: headers, the way to the log-in, and no help for pages of other sites."""

from urllib.parse import parse_qs, urljoin, urlsplit

import pytest

from tests.access_site import READER, STRANGER, TOKENS, WITH_TOKENS, Site

PAGE = {"Accept": "text/html,application/xhtml+xml"}


def csp(text: str) -> dict[str, str]:
    return {name: rest for name, _, rest in (part.strip().partition(" ") for part in text.split(";"))}


@pytest.mark.parametrize("path", ["/healthz", "/", "/api/v1/me", "/no/such", "/static/1/page.js", "/broken", "/login"])
@pytest.mark.parametrize("bearer", [READER, ""])
def test_every_answer_carries_the_security_headers(path: str, bearer: str) -> None:
    headers = Site(WITH_TOKENS).ask("GET", path, bearer=bearer).headers
    assert csp(headers["content-security-policy"]) == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
    }
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "camera=()" in headers["permissions-policy"]
    assert not [name for name in headers if name.startswith("access-control")]


def test_something_broken_tells_nothing_of_the_inside() -> None:
    answer = Site().ask("GET", "/broken")
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "ZeroDivisionError" not in answer.text
    assert "a bug" not in answer.text


@pytest.mark.parametrize(
    ("at", "sent"),
    [("https://truerail.example", True), ("https://[fd00::1]", True), ("https://truerail.example:8443", False),
     ("https://[fd00::1]:8443", False), ("http://truerail.example", False)],
)  # fmt: skip
def test_strict_transport_security_binds_only_a_name_that_is_ours_alone(at: str, sent: bool) -> None:
    headers = Site(WITH_TOKENS).ask("GET", "/healthz", at=at).headers
    assert ("strict-transport-security" in headers) is sent


def test_what_is_for_those_who_logged_in_is_kept_by_no_shared_cache() -> None:
    site = Site(WITH_TOKENS)
    assert site.ask("GET", "/api/v1/fabric", bearer=READER).headers["cache-control"] == "private, no-cache"
    assert site.ask("GET", "/api/v1/fabric", bearer=READER).headers["vary"] == "Authorization, Cookie"
    assert site.ask("GET", "/api/v1/me", bearer=READER).headers["cache-control"] == "no-store"
    assert "cache-control" not in site.ask("GET", "/static/1/page.js").headers


def test_a_page_leads_to_the_log_in_and_back() -> None:
    answer = Site(WITH_TOKENS).ask("GET", "/causes/a%20b?x=1&y=%22", PAGE)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=/causes/a%2520b%3Fx%3D1%26y%3D%2522")
    assert Site(WITH_TOKENS).ask("GET", "/", PAGE).headers["location"] == "/login"


@pytest.mark.parametrize("path", ["//evil.example/", "/%5Cevil.example", "/%09/evil.example", "/" + "x" * 2040])
def test_a_log_in_leads_back_to_no_other_site(path: str) -> None:
    """As they are on the wire: a browser takes each for an address of that host, or drops the tab and then does."""
    query = "a" * 2000 if len(path) > 1000 else ""
    answer = Site(WITH_TOKENS).ask("GET", f"http://localhost{path}", PAGE, params={"q": query})
    led = parse_qs(urlsplit(answer.headers["location"]).query).get("next", ["/"])[0]
    assert urljoin("http://localhost/", led).startswith("http://localhost/")
    assert not led.startswith(("//", "/\\", "/\t"))


@pytest.mark.parametrize("path", ["/api/v1/fabric", "/metrics", "/sd", "/openapi.json"])
def test_programs_are_never_led_to_a_page(path: str) -> None:
    assert Site(WITH_TOKENS).ask("GET", path, PAGE).status_code == 401


def test_a_wrong_token_is_reported_to_programs_even_for_a_page() -> None:
    assert Site(WITH_TOKENS).ask("GET", "/", bearer=STRANGER).status_code == 401


def test_a_link_from_a_chat_asks_again_with_the_cookie_before_it_asks_to_log_in() -> None:
    followed = {**PAGE, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "cross-site"}
    answer = Site(WITH_TOKENS).ask("GET", '/causes/a"><script>x</script>', followed)
    assert answer.status_code == 200
    assert 'content="0; url=/causes/a%22%3E%3Cscript%3Ex%3C/script%3E"' in answer.text
    again = {**followed, "Sec-Fetch-Site": "same-origin"}
    assert Site(WITH_TOKENS).ask("GET", "/causes/a", again).status_code == 303


@pytest.mark.parametrize(
    "at",
    ["http://localhost", "http://LOCALHOST:9000", "http://127.0.0.1:8080", "http://127.8.8.8", "http://[::1]:8080",
     "http://[::ffff:127.0.0.1]", "http://truerail.example"],
)  # fmt: skip
def test_without_a_log_in_the_service_answers_to_its_own_names(at: str) -> None:
    assert Site(url="http://truerail.example").ask("GET", "/api/v1/me", at=at).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.1@evil.example",
     "localhost evil", "", "10.0.0.1", "0.0.0.0", "[::]", "2130706433", "localhost:x", "localhost."],
)  # fmt: skip
def test_without_a_log_in_a_name_that_was_rebound_to_us_is_refused(host: str) -> None:
    site = Site()
    for method, path in (("GET", "/api/v1/me"), ("POST", "/api/v1/recheck"), ("GET", "/static/1/page.js")):
        answer = site.ask(method, path, {"Host": host})
        assert answer.status_code == 421
        assert answer.headers["content-type"] == "application/problem+json"
    assert site.ask("GET", "/healthz", {"Host": host}).status_code == 200, "probes ask by address"


def test_two_host_headers_are_none() -> None:
    assert Site().ask("GET", "/api/v1/me", [("Host", "localhost"), ("Host", "localhost")]).status_code == 421


@pytest.mark.parametrize(
    ("extra", "status"),
    [
        ({}, 200),
        ({"Origin": "http://localhost"}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:9999"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_without_a_log_in_a_page_of_another_site_writes_nothing(extra: dict[str, str], status: int) -> None:
    assert Site().ask("POST", "/api/v1/recheck", extra).status_code == status


def test_the_public_url_is_an_origin_of_ours_whatever_host_a_proxy_puts() -> None:
    site = Site({"tokens": TOKENS}, url="https://truerail.example/")
    cookie, csrf = site.log_in("trt_" + "o" * 43)
    headers = {"Cookie": cookie, "X-CSRF-Token": csrf, "Origin": "https://truerail.example"}
    assert site.ask("POST", "/api/v1/recheck", headers, at="http://127.0.0.1:8080").status_code == 200

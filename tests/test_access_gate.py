"""Who is let in by what, and what each may do."""

import pytest
import structlog

from tests.access_site import OPERATOR, READER, STRANGER, TOKENS, WITH_TOKENS, Site, settings

PROXY = {"trusted_proxy": {"addresses": ["10.1.0.0/24", "fd00::/8"], "operators": ["olga@example.com"]}}
METRICS = "a-metrics-token-of-some-length"


def who(site: Site, *args: object, **more: object) -> tuple[int, str, str]:
    answer = site.ask("GET", "/api/v1/me", *args, **more)  # type: ignore[arg-type] # handed through
    reported = answer.json()
    return answer.status_code, reported.get("name", ""), reported.get("role", "")


def test_where_no_log_in_is_configured_everybody_is_the_local_operator() -> None:
    site = Site()
    assert who(site) == (200, "local", "operator")
    assert site.ask("POST", "/api/v1/recheck").json()["name"] == "local"


def test_a_token_says_who_and_with_which_role() -> None:
    site = Site(WITH_TOKENS)
    assert who(site, bearer=READER) == (200, "rita", "reader")
    assert who(site, bearer=OPERATOR) == (200, "otto", "operator")
    assert who(site, {"Authorization": f"bearer   {OPERATOR} "}) == (200, "otto", "operator")


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", f"Bearer {STRANGER}", f"Bearer {READER}x", f"Basic {READER}", READER, "Bearer \xe4"],
)
def test_whoever_shows_no_known_token_is_asked_for_one(header: str) -> None:
    answer = Site(WITH_TOKENS).ask("GET", "/api/v1/fabric", [("Authorization", header.encode("latin-1"))])
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer realm="truerail"'
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == 401
    assert "trt_r" not in answer.text


def test_two_authorization_headers_are_none() -> None:
    both = [("Authorization", f"Bearer {READER}"), ("Authorization", f"Bearer {OPERATOR}")]
    assert who(Site(WITH_TOKENS), both)[0] == 401


def test_a_wrong_token_is_not_mended_by_a_good_cookie() -> None:
    site = Site(WITH_TOKENS)
    cookie, _ = site.log_in()
    assert who(site, {"Cookie": cookie}, bearer=STRANGER)[0] == 401


def test_a_reader_who_writes_is_reported_which_role_it_needs() -> None:
    answer = Site(WITH_TOKENS).ask("POST", "/api/v1/recheck", bearer=READER)
    assert answer.status_code == 403
    assert answer.json()["detail"] == "rita is a reader: this needs the role operator"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "PROPFIND"])
def test_no_method_that_may_change_something_passes_for_a_reader_whatever_the_path_asks(method: str) -> None:
    assert Site(WITH_TOKENS).ask(method, "/", bearer=READER).status_code == 403


def test_an_operator_writes_with_a_token_and_nothing_else() -> None:
    site = Site(WITH_TOKENS)
    elsewhere = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert site.ask("POST", "/api/v1/recheck", elsewhere, bearer=OPERATOR).status_code == 200


@pytest.mark.parametrize("path", ["/healthz", "/login", "/static/1/page.js"])
def test_what_is_open_needs_no_token(path: str) -> None:
    assert Site(WITH_TOKENS).ask("GET", path).text == "open"


@pytest.mark.parametrize(
    "path", ["/", "/metrics", "/sd", "/openapi.json", "/no/such", "/healthz/", "/loginx", "/static", "//"]
)
def test_everything_else_needs_one_even_what_does_not_exist(path: str) -> None:
    assert Site(WITH_TOKENS).ask("GET", path).status_code == 401


@pytest.mark.parametrize("path", ["/metrics", "/sd"])
def test_the_metrics_token_reads_the_metrics_and_nothing_else(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METRICS_TOKEN", METRICS)
    site = Site({"tokens": TOKENS, "metrics_token": {"env": "METRICS_TOKEN"}})
    assert site.ask("GET", path, bearer=METRICS).status_code == 200
    assert site.ask("GET", path, bearer=METRICS + "x").status_code == 401
    assert site.ask("GET", path, bearer=READER).status_code == 200
    assert site.ask("GET", "/api/v1/fabric", bearer=METRICS).status_code == 401
    assert site.ask("POST", path, bearer=METRICS).status_code == 403


def test_a_proxy_names_people_from_its_own_networks_alone() -> None:
    site = Site(PROXY)
    named = {"X-Forwarded-User": "rolf@example.com"}
    assert who(site, named, peer="10.1.0.7") == (200, "rolf@example.com", "reader")
    assert who(site, named, peer="::ffff:10.1.0.7") == (200, "rolf@example.com", "reader")
    assert who(site, named, peer="fd00::1") == (200, "rolf@example.com", "reader")
    assert who(site, named, peer="10.1.1.7")[0] == 401
    assert who(site, {**named, "X-Forwarded-For": "10.1.0.7", "Forwarded": "for=10.1.0.7"}, peer="10.9.9.9")[0] == 401


def test_the_proxys_operators_are_operators() -> None:
    site = Site(PROXY)
    assert who(site, {"X-Forwarded-User": "olga@example.com"}, peer="10.1.0.7") == (200, "olga@example.com", "operator")
    assert who(site, {"X-Forwarded-User": "Olga@example.com"}, peer="10.1.0.7")[2] == "reader"


@pytest.mark.parametrize("name", [b"", b"x" * 129, b"red\x1b[31m", b"\xff", "\u202egro.live".encode()])
def test_a_proxy_that_names_nobody_usable_lets_nobody_in(name: bytes) -> None:
    named = [("X-Forwarded-User", name)]
    assert Site(PROXY).ask("GET", "/api/v1/me", named, peer="10.1.0.7").status_code == 401


def test_a_proxy_that_names_two_lets_neither_in() -> None:
    headers = [("X-Forwarded-User", "olga@example.com"), ("X-Forwarded-User", "eve")]
    assert who(Site(PROXY), headers, peer="10.1.0.7")[0] == 401


def test_a_proxys_own_bearer_token_is_not_taken_for_one_of_ours() -> None:
    site = Site({**PROXY, "tokens": TOKENS})
    named = {"X-Forwarded-User": "rolf"}
    assert who(site, named, peer="10.1.0.7", bearer="eyJhbGciOi.id.token") == (200, "rolf", "reader")
    assert who(site, named, peer="10.1.0.7", bearer=OPERATOR) == (200, "otto", "operator")
    assert who(site, named, peer="10.1.0.7", bearer=STRANGER)[0] == 401


def test_new_settings_hold_at_once_and_end_the_sessions_of_tokens_that_are_gone() -> None:
    site = Site(WITH_TOKENS)
    kept, _ = site.log_in(OPERATOR)
    gone, _ = site.log_in(READER)
    site.gate.renew(settings({"tokens": [{**TOKENS[1], "role": "reader"}]}))
    assert who(site, {"Cookie": gone})[0] == 401
    assert who(site, bearer=READER)[0] == 401
    assert who(site, {"Cookie": kept}) == (200, "otto", "reader")


def test_settings_that_cannot_be_used_change_nothing() -> None:
    site = Site(WITH_TOKENS)
    with pytest.raises(ValueError, match="NOT_THERE"):
        site.gate.renew(settings({"metrics_token": {"env": "NOT_THERE"}}))
    assert who(site)[0] == 401
    assert who(site, bearer=READER)[0] == 200


def test_writes_of_known_people_are_logged_refused_or_not_and_strangers_fill_no_log() -> None:
    site = Site(WITH_TOKENS)
    with structlog.testing.capture_logs() as logs:
        site.ask("POST", "/api/v1/recheck", bearer=OPERATOR)
        site.ask("POST", "/api/v1/recheck", bearer=READER)
        site.ask("POST", "/api/v1/recheck")
        site.ask("GET", "/api/v1/fabric", bearer=READER)
    assert [(line["event"], line["who"], line["status"]) for line in logs] == [
        ("write", "otto", 200),
        ("write", "rita", 403),
    ]
    assert logs[0] | {"method": "POST", "path": "/api/v1/recheck", "peer": "127.0.0.1"} == logs[0]

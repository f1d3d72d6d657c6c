"""Log-in by the page: sessions, their cookies, what a write has to show, and what happens to those who guess."""

from ipaddress import IPv4Address
from urllib.parse import urlencode

import httpx
import pytest

from tests.access_site import OPERATOR, READER, STRANGER, TOKENS, WITH_TOKENS, Site
from truerail.web.access.failures import IN_TOTAL, MOST_PEERS
from truerail.web.access.sessions import MOST_PER_TOKEN

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
OWN = {"Origin": "http://localhost"}


def form(
    site: Site,
    headers: dict[str, str] | None = None,
    at: str = "http://localhost",
    peer: str = "127.0.0.1",
    **fields: str,
) -> httpx.Response:
    return site.ask("POST", "/login", {**FORM, **(headers or {})}, at=at, peer=peer, content=urlencode(fields))


def test_a_form_with_a_token_gets_a_cookie_and_goes_on() -> None:
    answer = form(Site(WITH_TOKENS), token=f" {READER}\n", next="/causes/abc?x=1")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/causes/abc?x=1"
    name, _, rest = answer.headers["set-cookie"].partition("=")
    number, *attributes = rest.split("; ")
    assert name == "truerail"
    assert len(number) == 43
    assert attributes == ["Path=/", "Max-Age=43200", "HttpOnly", "SameSite=Strict"]
    assert answer.headers["cache-control"] == "no-store"


def test_over_tls_the_cookie_belongs_to_this_host_alone() -> None:
    site = Site(WITH_TOKENS)
    answer = form(site, at="https://truerail.example", token=READER)
    cookie, _, attributes = answer.headers["set-cookie"].partition(";")
    assert cookie.startswith("__Host-truerail=")
    assert attributes.endswith("; Secure")
    plain = cookie.replace("__Host-", "")
    assert site.ask("GET", "/", {"Cookie": cookie}, at="https://truerail.example").status_code == 200
    assert site.ask("GET", "/", {"Cookie": plain}, at="https://truerail.example").status_code == 401


def test_a_proxy_or_the_public_url_may_say_that_the_way_is_encrypted_nobody_else() -> None:
    summary = {"X-Forwarded-Proto": "https"}
    proxied = Site({"tokens": TOKENS, "trusted_proxy": {"addresses": ["10.1.0.0/24"]}})
    for peer, secure in (("10.1.0.7", True), ("10.9.0.7", False)):
        answer = proxied.ask("POST", "/login", summary, json={"token": READER}, peer=peer)
        assert ("Secure" in answer.headers["set-cookie"]) is secure
    public = Site(WITH_TOKENS, url="https://truerail.example")
    assert "Secure" in form(public, token=READER).headers["set-cookie"]


def test_json_gets_name_role_and_csrf() -> None:
    answer = Site(WITH_TOKENS).ask("POST", "/login", json={"token": OPERATOR})
    assert answer.json().keys() == {"name", "role", "csrf"}
    assert answer.json()["name"] == "otto"
    assert len(answer.json()["csrf"]) == 43


def test_a_session_has_the_name_and_the_role_of_its_token_and_ends_in_time() -> None:
    site = Site({"tokens": TOKENS, "session": "10m"})
    cookie, csrf = site.log_in(READER)
    assert site.ask("GET", "/api/v1/me", {"Cookie": cookie}).json() == {"name": "rita", "role": "reader", "csrf": csrf}
    site.now += 599
    assert site.ask("GET", "/api/v1/me", {"Cookie": f"a=b; {cookie}; c"}).status_code == 200
    site.now += 2
    assert site.ask("GET", "/api/v1/me", {"Cookie": cookie}).status_code == 401


@pytest.mark.parametrize("cookie", ["truerail=", "truerail=guess", "truerail", "=", ";;;", "truerail=\xe4"])
def test_a_cookie_that_nobody_was_given_lets_nobody_in(cookie: str) -> None:
    site = Site(WITH_TOKENS)
    site.log_in()
    answer = site.ask("GET", "/api/v1/me", [("Cookie", cookie.encode("latin-1"))])
    assert answer.status_code == 401


def test_logging_out_ends_the_session_for_readers_too() -> None:
    site = Site(WITH_TOKENS)
    cookie, csrf = site.log_in(READER)
    for elsewhere in ({}, {"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert site.ask("POST", "/logout", {"Cookie": cookie, **elsewhere}).status_code == 403
    assert site.ask("GET", "/", {"Cookie": cookie}).status_code == 200
    answer = site.ask("POST", "/logout", {"Cookie": cookie, "X-CSRF-Token": csrf, **OWN})
    assert answer.status_code == 204
    assert answer.headers["set-cookie"].startswith("truerail=; Path=/; Max-Age=0")
    assert site.ask("GET", "/", {"Cookie": cookie}).status_code == 401
    assert site.tower.kept == [("rita", "log-in", "from 127.0.0.1"), ("rita", "log-out", "from 127.0.0.1")]


def test_a_form_logs_out_and_leads_to_the_log_in() -> None:
    site = Site(WITH_TOKENS)
    cookie, _ = site.log_in()
    answer = site.ask("POST", "/logout", {"Cookie": cookie, **OWN, **FORM}, content="csrf=whatever")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    assert site.ask("GET", "/", {"Cookie": cookie}).status_code == 401


def test_a_new_log_in_ends_the_session_that_the_browser_had() -> None:
    site = Site(WITH_TOKENS)
    before, _ = site.log_in()
    after = site.ask("POST", "/login", {"Cookie": before}, json={"token": OPERATOR}).headers["set-cookie"]
    assert site.ask("GET", "/", {"Cookie": before}).status_code == 401
    assert site.ask("GET", "/", {"Cookie": after.partition(";")[0]}).status_code == 200


def test_one_tokens_many_sessions_push_out_its_own_oldest_alone() -> None:
    site = Site(WITH_TOKENS)
    other, _ = site.log_in(READER)
    oldest, _ = site.log_in(OPERATOR)
    operator = site.gate.access.tokens[1]
    numbers = [site.gate.sessions.begin(operator, 60)[0] for _ in range(MOST_PER_TOKEN)]
    assert site.ask("GET", "/", {"Cookie": oldest}).status_code == 401
    assert site.ask("GET", "/", {"Cookie": f"truerail={numbers[0]}"}).status_code == 200
    assert site.ask("GET", "/", {"Cookie": other}).status_code == 200


@pytest.mark.parametrize(
    ("extra", "status"),
    [
        ({"Origin": "http://localhost"}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "https://rewritten.example"}, 200),
        ({}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "https://localhost"}, 403),
        ({"Origin": "http://localhost:81"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": ""}, 403),
        ({"Sec-Fetch-Site": "same-site", "Origin": "http://localhost"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
    ],
)
def test_a_write_with_a_cookie_comes_from_a_page_of_this_service(extra: dict[str, str], status: int) -> None:
    site = Site(WITH_TOKENS)
    cookie, csrf = site.log_in()
    headers = {"Cookie": cookie, "X-CSRF-Token": csrf, **extra}
    assert site.ask("POST", "/api/v1/recheck", headers).status_code == status


def test_a_write_with_a_cookie_carries_the_sessions_own_csrf_token() -> None:
    site = Site(WITH_TOKENS)
    cookie, csrf = site.log_in()
    _, others = site.log_in()
    for shown in ("", others, csrf + "x", csrf[:-1], "\xe4"):
        headers = [("Cookie", cookie), ("Origin", "http://localhost"), ("X-CSRF-Token", shown.encode("latin-1"))]
        assert site.ask("POST", "/api/v1/recheck", headers).status_code == 403, shown
    assert site.ask("POST", "/api/v1/recheck", {"Cookie": cookie, "X-CSRF-Token": csrf, **OWN}).status_code == 200


def test_people_behind_a_proxy_show_a_csrf_token_too_which_is_theirs_alone() -> None:
    site = Site({"trusted_proxy": {"addresses": ["10.1.0.0/24"], "role": "operator"}})
    named = {"X-Forwarded-User": "olga", **OWN}
    csrf = site.ask("GET", "/api/v1/me", named, peer="10.1.0.7").json()["csrf"]
    eves = site.ask("GET", "/api/v1/me", {"X-Forwarded-User": "eve"}, peer="10.1.0.7").json()["csrf"]
    for shown, status in (("", 403), (eves, 403), (csrf, 200)):
        headers = {**named, "X-CSRF-Token": shown}
        assert site.ask("POST", "/api/v1/recheck", headers, peer="10.1.0.7").status_code == status


def test_a_page_of_another_site_logs_nobody_in() -> None:
    site = Site(WITH_TOKENS)
    assert form(site, {"Origin": "https://evil.example"}, token=OPERATOR).status_code == 403
    assert form(site, {"Sec-Fetch-Site": "cross-site"}, token=OPERATOR).status_code == 403
    assert not site.tower.kept


@pytest.mark.parametrize(
    "there",
    ["//evil.example", "/\\evil.example", "https://evil.example", "evil", "", "/\tx", "/\n/evil.example",
     "javascript:x", "/login?next=/", "/" + "x" * 3000],
)  # fmt: skip
def test_after_the_log_in_the_way_leads_nowhere_else(there: str) -> None:
    answer = form(Site(WITH_TOKENS), token=READER, next=there)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


def test_a_wrong_token_leads_back_to_the_form_or_is_a_problem() -> None:
    site = Site(WITH_TOKENS)
    answer = form(site, token=STRANGER, next="/causes/abc?x=1&y=2")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?failed=1&next=/causes/abc%3Fx%3D1%26y%3D2")
    assert "set-cookie" not in answer.headers
    assert site.ask("POST", "/login", json={"token": STRANGER}).status_code == 401
    assert site.tower.kept == [("unknown", "wrong token", "from 127.0.0.1")] * 2


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("application/json", "{", 400),
        ("application/json", "[]", 400),
        ("application/json", '{"token": 7}', 401),
        ("application/json; charset=utf-8", "{}", 401),
        ("application/x-www-form-urlencoded", b"token=\xff", 400),
        ("application/x-www-form-urlencoded", "&".join(f"f{n}=1" for n in range(9)), 400),
        ("multipart/form-data; boundary=x", "--x", 415),
        ("", "token=x", 415),
        ("application/json", " " * 5000, 413),
    ],
)
def test_a_body_that_is_no_log_in_says_what_is_wrong(kind: str, body: str | bytes, status: int) -> None:
    answer = Site(WITH_TOKENS).ask("POST", "/login", {"Content-Type": kind}, content=body)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"


def test_where_nobody_has_to_log_in_the_log_in_only_leads_on() -> None:
    answer = form(Site(), OWN, token="", next="/punch")
    assert (answer.status_code, answer.headers["location"]) == (303, "/punch")
    assert "set-cookie" not in answer.headers


def test_who_guesses_too_often_waits_and_is_not_written_down_any_more() -> None:
    site = Site({"tokens": TOKENS, "failed_logins_per_minute": 3})
    tries = [site.ask("POST", "/login", json={"token": STRANGER}, peer="10.0.0.9") for _ in range(5)]
    assert [answer.status_code for answer in tries] == [401, 401, 401, 429, 429]
    assert tries[-1].headers["retry-after"] == "20"
    person = form(site, token=STRANGER, peer="10.0.0.9")
    assert (person.status_code, person.text) == (429, "too many wrong tokens: try again in 20 s")
    assert person.headers["retry-after"] == "20"
    assert site.ask("GET", "/", bearer=STRANGER, peer="10.0.0.9").status_code == 429
    assert form(site, token=STRANGER).status_code == 303, "another address has its own count"
    assert len(site.tower.kept) == 4
    assert STRANGER not in str(site.tower.kept)
    site.now += 20
    assert site.ask("GET", "/", bearer=STRANGER, peer="10.0.0.9").status_code == 401
    assert site.ask("GET", "/", bearer=STRANGER, peer="10.0.0.9").status_code == 429


def test_guessing_locks_nobody_else_out() -> None:
    site = Site({"tokens": TOKENS, "failed_logins_per_minute": 1})
    for number in range(IN_TOTAL + 2):
        last = site.ask("GET", "/", bearer=STRANGER, peer=f"10.0.0.{number}")
    assert last.status_code == 429, "all together have a limit too"
    assert len(site.tower.kept) == IN_TOTAL
    assert site.ask("GET", "/", bearer=READER, peer="10.0.0.1").status_code == 200
    assert site.log_in(READER, peer="10.0.0.1")


def test_an_ipv6_host_has_one_count_for_all_its_addresses() -> None:
    site = Site({"tokens": TOKENS, "failed_logins_per_minute": 1})
    first, second, elsewhere = (
        site.ask("GET", "/", bearer=STRANGER, peer=peer).status_code
        for peer in ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1")
    )
    assert (first, second, elsewhere) == (401, 429, 401)


def test_the_count_remembers_a_bounded_number_of_addresses() -> None:
    failures = Site({"tokens": TOKENS}).gate._failures  # its size shows in no answer
    for number in range(MOST_PEERS + 500):
        failures.add(IPv4Address(number))
    assert len(failures._peers) == MOST_PEERS


def test_a_journal_that_is_gone_stops_no_log_in() -> None:
    site = Site(WITH_TOKENS)
    site.tower.gone = True
    assert site.log_in()
    assert site.ask("GET", "/", bearer=STRANGER).status_code == 401

"""Checks a real Grafana that was provisioned with the dashboards: all are loaded, and it answers every query of them.

GRAFANA_TOKEN=... python -m dashboards.check.grafana --url http://127.0.0.1:3000 --pictures DIR
GRAFANA_USER=admin GRAFANA_PASSWORD=... python -m dashboards.check.grafana --url http://127.0.0.1:3000

Exits with 1 where a dashboard is missing or differs, a query is refused, or a picture shows a panel with an error. A
query without series is reported and is no failure: what is right on a fabric has no findings. A user or a service
account with the role Viewer is enough.

No Grafana can be installed for the tests of this repository, so they run this against a small server that speaks the
documented answers; the workflow in `.github/workflows/ci.yml` runs it against the real one.
"""

import argparse
import json
import os
import sys
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.error import URLError
from urllib.request import Request, urlopen

from dashboards.check.boards import BUILT_IN, Board, load
from dashboards.check.complaint import Complaint, of_board
from dashboards.check.executed import SPAN_SECONDS, STEP_SECONDS, Asked, Refused, executed
from dashboards.check.pictures import pictures

TIMEOUT_SECONDS: Final = 30.0
SOURCE: Final = "prometheus"
"""The uid that deploy/compose gives the data source."""


class Grafana:
    """The server at `url`, asked by the user that `authorization` (a header's value) names.

    API: https://grafana.com/docs/grafana/latest/developer-resources/api-reference/http-api/
    """

    times: Mapping[str, str] = {name: f"${{{name}}}" for name in BUILT_IN}
    """Grafana fills in its own."""

    def __init__(self, url: str, authorization: str, source: str = SOURCE) -> None:
        self.url, self.authorization, self._source = url.rstrip("/"), authorization, source

    def asked(self, path: str, body: object = None) -> Any:
        """The answer in JSON. Raises Refused with what it said instead."""
        headers = {"Authorization": self.authorization, "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self.url}{path}", data, headers)  # noqa: S310 - the caller's address
        try:
            with urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310 - as above
                return json.load(answer)
        except (URLError, ValueError) as error:
            said = error.read().decode(errors="replace")[:500] if hasattr(error, "read") else ""
            raise Refused(f"{path}: {error} {said}".rstrip()) from error

    def series(self, expr: str, *, at_once: bool) -> list[Mapping[str, str]]:
        """The labels of each series that the expression gives now, or gave within the span. Raises Refused."""
        query = {
            "refId": "A",
            "datasource": {"type": "prometheus", "uid": self._source},
            "expr": expr,
            "instant": at_once,
            "range": not at_once,
            "format": "time_series",
            "intervalMs": STEP_SECONDS * 1000,
            "maxDataPoints": SPAN_SECONDS // STEP_SECONDS,
        }
        reported = self.asked("/api/ds/query", {"queries": [query], "from": f"now-{SPAN_SECONDS}s", "to": "now"})
        result = reported.get("results", {}).get("A", {})
        if result.get("error") or "frames" not in result:
            raise Refused(f"{expr!r}: {result.get('error') or reported}")
        return [labels for frame in result["frames"] for labels in _series(frame)]


def loaded(board: Board, grafana: Grafana) -> Iterator[Complaint]:
    """Whether Grafana has the dashboard, by provisioning, with all its panels."""
    try:
        reported = grafana.asked(f"/api/dashboards/uid/{board.uid}")
    except Refused as error:
        yield of_board("grafana", board, f"is not loaded: {error}")
        return
    there = Board(board.file, reported["dashboard"])
    if [panel.title for panel in there.panels] != [panel.title for panel in board.panels]:
        yield of_board("grafana", board, f"has other panels: {[panel.title for panel in there.panels]}")
    if not reported["meta"].get("provisioned"):
        yield of_board("grafana", board, "was not provisioned from files")


def main(arguments: Sequence[str]) -> int:
    """Checks, and prints what is wrong. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m dashboards.check.grafana", description=_what())
    parser.add_argument("--url", required=True, help="address of Grafana")
    parser.add_argument("--source", default=SOURCE, help="uid of its data source (default: %(default)s)")
    parser.add_argument("--pictures", type=Path, help="folder for a picture of each dashboard")
    asked = parser.parse_args(arguments)
    grafana = Grafana(asked.url, _authorization(os.environ), asked.source)
    boards = load()
    wrong = [complaint for board in boards for complaint in _checked(board, grafana)]
    if asked.pictures and not wrong:
        wrong += pictures(boards, grafana, asked.pictures)
    sys.stderr.writelines(f"{complaint}\n" for complaint in wrong)
    sys.stdout.write(f"{len(boards)} dashboards, {len(wrong)} complaints\n")
    return 1 if wrong or not boards else 0


def _checked(board: Board, grafana: Grafana) -> Iterator[Complaint]:
    missing = list(loaded(board, grafana))
    yield from missing
    if missing:
        return
    reported = list(executed(board, grafana))
    yield from (one for one in reported if isinstance(one, Complaint))
    asked = [one for one in reported if isinstance(one, Asked)]
    empty = [f"{one.panel.title} ({one.query.ref})" for one in asked if not one.series]
    sys.stdout.write(f"{board.uid}: {len(asked)} queries answered, {len(empty)} without series: {', '.join(empty)}\n")
    if len(empty) == len(asked):
        yield of_board("grafana", board, "shows nothing at all")


def _series(frame: Mapping[str, Any]) -> Iterator[Mapping[str, str]]:
    """A frame of a time series is a field of times, and one of values with its labels for each series."""
    fields = frame.get("schema", {}).get("fields", [])
    values = frame.get("data", {}).get("values", [])
    for field, reported in zip(fields, values, strict=False):
        if field.get("type") != "time" and reported:
            yield field.get("labels") or {}


def _authorization(environment: Mapping[str, str]) -> str:
    if token := environment.get("GRAFANA_TOKEN"):
        return f"Bearer {token}"
    login = f"{environment.get('GRAFANA_USER', 'admin')}:{environment.get('GRAFANA_PASSWORD', '')}"
    return f"Basic {b64encode(login.encode()).decode()}"


def _what() -> str:
    return (__doc__ or "").partition("\n")[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

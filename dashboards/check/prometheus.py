"""A Prometheus, asked by its HTTP API: https://prometheus.io/docs/prometheus/latest/querying/api/"""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from dashboards.check.executed import SPAN_SECONDS, STEP_SECONDS, Refused

TIMES: Final = {
    "__rate_interval": "2m",
    "__interval": f"{STEP_SECONDS}s",
    "__range": f"{SPAN_SECONDS}s",
    "__range_s": str(SPAN_SECONDS),
}
"""Grafana's own variables, for that span."""


class Prometheus:
    """The server at `url`, which is trusted. `clock` says when now is, in Unix seconds."""

    times: Mapping[str, str] = TIMES

    def __init__(self, url: str, timeout_seconds: float = 20.0, clock: Callable[[], float] = time.time) -> None:
        self._url, self._timeout, self._clock = url.rstrip("/"), timeout_seconds, clock

    def series(self, expr: str, *, at_once: bool) -> list[Mapping[str, str]]:
        """The labels of each series that the expression gives now, or gave within the span. Raises Refused."""
        now = self._clock()
        if at_once:
            return self._asked("query", query=expr, time=f"{now:.3f}")
        return self._asked("query_range", query=expr, start=f"{now - SPAN_SECONDS:.3f}", end=f"{now:.3f}",
                           step=str(STEP_SECONDS))  # fmt: skip

    def _asked(self, what: str, **form: str) -> list[Mapping[str, str]]:
        request = Request(f"{self._url}/api/v1/{what}", urlencode(form).encode())  # noqa: S310 - the caller's address
        try:
            with urlopen(request, timeout=self._timeout) as answer:  # noqa: S310 - as above
                reported: dict[str, Any] = json.load(answer)
        except HTTPError as error:
            raise Refused(f"{form['query']!r}: {error.read().decode(errors='replace')[:500]}") from error
        if reported["status"] != "success" or reported.get("warnings"):
            raise Refused(f"{form['query']!r}: {reported.get('error') or reported.get('warnings')}")
        return [found["metric"] for found in reported["data"]["result"]]

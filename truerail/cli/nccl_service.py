"""A job's log joined with the wiring of a running service: what the log shows is sent, and the answer read."""

from base64 import b64encode
from pathlib import Path

from truerail.bus.fact_columns import packed
from truerail.cli.nccl import Logs
from truerail.cli.oncall_service import sent
from truerail.cli.version_skew import explained, explained_answer
from truerail.errors import AnswerError, CommandError
from truerail.model import Fact
from truerail.questions.nccl_answer import NcclAnswer
from truerail.views.plain import answer_from_json

_UNKNOWN = (404, 405, 422)
"""Answers of a service that may not know the question."""


def of_service(logs: Logs, service: str, token_file: Path | None, *, hops: bool) -> NcclAnswer:
    """The answer of a service. Raises CommandError."""
    body = {"logs": [{"name": log.name, "facts": _sent(facts)} for log, facts in logs], "hops": hops}
    try:
        value = sent("POST", service, "nccl", body, token_file, {})
    except CommandError as error:
        if getattr(error.__cause__, "code", None) not in _UNKNOWN:
            raise
        raise CommandError(explained(service, token_file, "nccl", (), str(error))) from error
    try:
        return answer_from_json(NcclAnswer, value)
    except AnswerError as error:
        raise CommandError(explained_answer(service, token_file, str(error))) from error


def _sent(facts: tuple[Fact, ...]) -> str:
    return b64encode(packed(facts)).decode("ascii")

"""`where PORT`: the path of a cable from GPU to uplinks, by the name of any part."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from truerail.questions.question import Asked, Form, Given, Journal, Parameter, Question, all_good
from truerail.views.pieces import AsOf, CablePath

if TYPE_CHECKING:
    from rich.console import RenderableType

    from truerail.outputs.options import Options


@dataclass(frozen=True, slots=True)
class Where:
    """`where PORT`. `matched_type` is the type of the name: `host port`, `switch port`, `gpu`, `rdma device`, `mac
    address`, `host`, `switch`. A name that fits several things gives all their paths.
    """

    query: str
    matched_type: str
    paths: tuple[CablePath, ...]
    summary: str
    as_of: AsOf | None = None


def _find(asked: Asked, given: Given) -> Where:
    from truerail.questions.answers.where import where

    return where(asked.publication, given["port"], asked.history)


def _good(answer: Where) -> bool | None:
    return all_good({"right": True, "unknown": None}.get(path.state, False) for path in answer.paths)


def _text(answer: Where, options: "Options") -> Iterator["RenderableType"]:
    from truerail.questions.text.where import where_text

    return where_text(answer)


QUESTION = Question(
    "where",
    1,
    Where,
    (
        Parameter(
            "port",
            help="gpu-012/enp26s0f0np0, 'gpu-012 GPU 3', leaf-3/swp12, a MAC, a host.",
            description="gpu-012/enp26s0f0np0, gpu-012:mlx5_3, a GPU, a MAC, leaf-3/swp12",
            label="Port, MAC, GPU or RDMA device",
            example="gpu-012/mlx5_3",
        ),
    ),
    _find,
    "The full path of a cable, from GPU to uplinks: planned and actual, since when, and its findings.",
    short="On call: a port's path from GPU to uplinks.",
    help="The full path of a cable: GPU, NIC, leaf port, rail, uplinks; planned and actual, and its findings.",
    good=_good,
    text=_text,
    journal=lambda given: Journal.USED,
    operation="the_place",
    form=Form("Where is this port?", "The path from GPU to uplinks, planned and actual.", "Find"),
)

"""lldpd's json0 has a fast reader of its own: it says what the reader of all forms says, or leaves it to that one."""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from collector.formats import lldpd
from collector.formats.lldpd_text import neighbors_from_json0
from truerail.errors import UnreadableError
from truerail.model import Neighbor

VALUES: list[Any] = [
    *(None, True, 7, 1.5, "", "x", "0", " 7 ", "3 days, 01:12:02"),
    *([], {}, [[]], [{}], [{"value": 5}], [{"value": "y"}]),
]


def seen(port: str, **more: Any) -> dict[str, Any]:
    return {
        "name": port,
        "via": "LLDP",
        "rid": "1",
        "age": "2 days, 03:04:05",
        "chassis": [
            {
                "id": [{"type": "mac", "value": "02:00:00:00:00:03"}],
                "name": [{"value": "leaf-0"}],
                "descr": [{"value": 'quoted " \\ \u00e4'}],
                "mgmt-ip": [{"value": "10.0.0.1"}, {"value": "fe80::1"}],
                "capability": [{"type": "Bridge", "enabled": True}],
            }
        ],
        "port": [
            {"id": [{"type": "ifname", "value": "swp1"}], "descr": [{"value": "to gpu"}], "ttl": [{"value": "120"}]}
        ],
    } | more


def document(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"lldp": [{"interface": list(entries)}]}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to everything in a document but itself."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(inner, (*path, key))


def changed(root: Any, path: tuple[Any, ...]) -> Iterator[Any]:
    """The document with something else in one place, without it, and with it twice."""
    for value in (*VALUES, "gone", "twice"):
        copy = deepcopy(root)
        holder = copy
        for key in path[:-1]:
            holder = holder[key]
        if value == "gone":
            del holder[path[-1]]
        elif value == "twice" and isinstance(holder, list):
            holder.append(deepcopy(holder[path[-1]]))
        else:
            holder[path[-1]] = [holder[path[-1]], "more"] if value == "twice" else value
        yield copy


def said(text: str) -> list[Neighbor] | str:
    """What the reader of all forms says."""
    try:
        return [lldpd._neighbor(port, one) for port, one in lldpd._interfaces(lldpd.decode(text))]
    except UnreadableError as error:
        return str(error)


def alike(text: str) -> bool:
    """Whether this is json0 for the fast reader. Fails where it then says anything else than the other."""
    fast = neighbors_from_json0(text)
    assert fast is None or fast == said(text), text
    return fast is not None


def test_both_readers_say_the_same_of_every_change_in_a_document() -> None:
    root = document(seen("ens1"), seen("ens1", status="up"))
    texts = [json.dumps(one) for path in places(root) for one in changed(root, path)]
    assert len(texts) > 500
    fast = sum(map(alike, texts))
    assert len(texts) / 3 < fast < len(texts)


def test_a_document_that_is_cut_or_in_company_is_left_to_the_other_reader() -> None:
    text = json.dumps(document(seen("ens1")), indent=2)
    assert alike(text)
    assert not any(alike(text[:end]) for end in range(len(text)))
    assert not any(map(alike, (f"$ lldpctl -f json0\n{text}", f"{text}\n$ ", text + text, "[" * 100_000)))


def test_what_lldpd_says_of_its_own_ports_is_no_neighbor() -> None:
    own = seen("ens1", status="up")
    del own["rid"]
    assert neighbors_from_json0(json.dumps(document(own))) is None


def test_equal_neighbors_of_one_port_stay_two() -> None:
    found = neighbors_from_json0(json.dumps(document(seen("ens1"), seen("ens1"))))
    assert found is not None
    assert [one.port for one in found] == ["ens1", "ens1"]
    addresses = ("10.0.0.1", "fe80::1")
    port = ("swp1", "ifname", "to gpu", 120, 183845, addresses, "LLDP")
    assert found[0] == Neighbor("ens1", "02:00:00:00:00:03", "mac", "leaf-0", *port)

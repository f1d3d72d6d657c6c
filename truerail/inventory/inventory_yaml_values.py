"""Typed values of an inventory in YAML. What may be a secret is never shown."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from truerail.files.problems import nearest
from truerail.files.yaml_keys import Keys
from truerail.files.yaml_values import Values
from truerail.model import Secret
from truerail.model.yaml_tree import Node

_ENV = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_CREDENTIAL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,127}", re.ASCII)
_SECONDS = re.compile(r"\d{1,4}(?:\.\d{1,3})?", re.ASCII)
_REFERENCE = "expected {env: NAME}, {file: PATH} or {credential: NAME}; an inventory never contains the secret itself"


class InventoryValues(Values):
    """Reads the nodes of an inventory."""

    def fields(self, node: Node, declared: Keys) -> dict[str, Node]:
        """The keys and values of a mapping. A value in a mapping's place, or a key without a value, is not shown."""
        if node.pairs is None:
            self.faults.add(node.line, "", f"expected a mapping with {', '.join(declared.names)}, found {node.kind}")
            return {}
        bare = [key for key, value in node.pairs if value.text == "" and key.text not in declared.names]
        for key in bare:
            self.faults.add(key.line, "", "a key without a value in a mapping")
        if not bare:
            return super().fields(node, declared)
        return self.known([(key, value) for key, value in node.pairs if key not in bare], declared)

    def checked(self, node: Node | None, fault: Callable[[str], str]) -> str:
        """One value as text that passes `fault`; empty if the key is absent. An invalid one is not shown: it may be
        `user:password`.
        """
        text = self.text(node)
        if node is not None and node.text is not None and (summary := fault(text)):
            self.faults.add(node.line, "", summary)
            return ""
        return text

    def word(self, node: Node | None, known: Sequence[str], default: str = "") -> str:
        """One of the known words."""
        if node is None:
            return default
        text = (node.text or "").lower()
        if text in known:
            return text
        self.faults.add(node.line, node.shown, f"expected one of {', '.join(known)}{_hint(text, known)}")
        return default

    def texts(self, node: Node | None) -> list[str]:
        """A list of texts, or one text with commas."""
        if node is None or node.text == "":
            return []
        if node.items is not None:
            return [self.text(one) for one in node.items]
        return [part.strip() for part in self.text(node).split(",")]

    def seconds(self, node: Node | None, default: float) -> float:
        """A time above 0."""
        if node is None:
            return default
        if not _SECONDS.fullmatch(node.text or "") or not float(node.text or ""):
            self.wrong(node, "expected seconds such as 10 or 2.5")
            return default
        return float(node.text or "")

    def secret(self, key: str, node: Node | None) -> Secret | None:
        """A reference to a secret; `key` is what the file calls it. `~` in a path is the user's home."""
        if node is None:
            return None
        pairs = node.pairs or []
        source, name = (pairs[0][0].text, pairs[0][1].text or "") if len(pairs) == 1 else (None, "")
        if source == "file" and name:
            return Secret("file", str(Path(name).expanduser()))
        if (source == "env" and _ENV.fullmatch(name)) or (source == "credential" and _CREDENTIAL.fullmatch(name)):
            return Secret(source, name)
        self.faults.add(node.line, "", f"{key}: {_REFERENCE}")
        return None


def _hint(text: str, known: Sequence[str]) -> str:
    hint = nearest(text, known)
    return hint if hint.startswith(",") else ""

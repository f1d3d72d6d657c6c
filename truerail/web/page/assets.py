"""The page's own files, read once and named by a version made of what they hold: browsers may keep them forever."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2s
from importlib.resources import files

MEDIA = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_IMPORT = re.compile(r"""^import\b[^;'"(]*['"]\./([\w.-]+)['"]""", re.MULTILINE)
_LATER = re.compile(r"""\bimport\(['"]\./([\w.-]+)['"]\)""")


@dataclass(frozen=True)
class Assets:
    """Every static file by its name."""

    files: Mapping[str, bytes]

    @cached_property
    def version(self) -> str:
        """Changes with any byte of any file."""
        digest = blake2s(digest_size=6)
        for name, content in sorted(self.files.items()):
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
        return digest.hexdigest()

    def imports(self, module: str) -> list[str]:
        """A module and all that it imports, near ones first: what a page asks the browser to load at once."""
        found = {module: None}
        for name in (queue := [module]):
            for needed in _IMPORT.findall(self.files[name].decode()):
                if needed not in found:
                    found[needed] = None
                    queue.append(needed)
        return list(found)

    def later(self, module: str) -> list[str]:
        """What a module imports after its first work, and all that this needs, without what is there by then."""
        first = self.imports(module)
        found = {name: None for late in _LATER.findall(self.files[module].decode()) for name in self.imports(late)}
        return [name for name in found if name not in first]


def load() -> Assets:
    """The files as they were installed."""
    folder = files("truerail.web.page") / "static"
    return Assets({entry.name: entry.read_bytes() for entry in folder.iterdir() if suffix(entry.name) in MEDIA})


def suffix(name: str) -> str:
    """`.js` of `map.js`."""
    return name[name.rfind(".") :]

"""A section of a page that one benchmark writes, between marks: `<!-- name: begin -->` and `<!-- name: end -->`."""

from dataclasses import dataclass

LAST = "## Mistakes\n"
"""New sections come before this heading."""


@dataclass(frozen=True)
class Section:
    """The section of this name."""

    name: str

    @property
    def begin(self) -> str:
        """The mark before it."""
        return f"<!-- {self.name}: begin -->"

    @property
    def end(self) -> str:
        """The mark after it."""
        return f"<!-- {self.name}: end -->"

    def marked(self, text: str) -> str:
        """The text between the marks, with them."""
        return f"{self.begin}\n{text}\n{self.end}"

    def of(self, page: str) -> str:
        """The section in a page, with its marks; empty where there is none."""
        begin, end = page.find(self.begin), page.find(self.end)
        return page[begin : end + len(self.end)] if 0 <= begin < end else ""

    def placed(self, page: str, section: str) -> str:
        """A page with this section in place of the former one, or else before the last heading, or at the end."""
        if before := self.of(page):
            return page.replace(before, section)
        return page.replace(LAST, f"{section}\n\n{LAST}") if LAST in page else f"{page}\n{section}\n"

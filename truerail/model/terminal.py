"""Text that a terminal, a pager, an editor or a ticket added to an answer: no device sent it."""

import re

_BYTE_ORDER_MARK = "\ufeff"
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_PAGER = re.compile(
    r"^[ \t]*(?:<?-{2,} ?More ?-{2,}>?|-{2,}\(more(?: \d{1,3}%)?\)-{2,})[ \t\b\r]*", re.IGNORECASE | re.MULTILINE
)
"""A pager's prompt, and the characters that overwrite it, before the next line of the answer: ` --More-- `, Junos'
`---(more 45%)---`, Comware's `---- More ----`."""
_PAGED = re.compile(r"--[ (]?more", re.IGNORECASE)
"""The common part of all. A search for two literal characters costs a third of a search for the whole, or of `in`."""
_FENCE = re.compile(r"^[ \t]*```\w{0,20}[ \t]*\r?$", re.MULTILINE)


def untouched(answer: str) -> str:
    """The answer without a byte order mark, terminal escapes, prompts of a pager, and fences of Markdown.

    Line N stays line N: a line without other text becomes empty.
    """
    answer = answer.removeprefix(_BYTE_ORDER_MARK)
    if "\x1b" in answer:
        answer = _ESCAPES.sub("", answer)
    if _PAGED.search(answer):
        answer = _PAGER.sub("", answer)
    return _FENCE.sub("", answer) if "`" in answer else answer

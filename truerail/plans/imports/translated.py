"""German and Chinese words of cable lists as English ones: `Zielgerät` is `dest device`, `对端端口` is `remote port`.

Both languages join words: their parts are translated wherever they stand in a header's cell, the first of the table
that fits at each place. A cell of ASCII alone is German only with a word that English headers do not have.
"""

import re
import unicodedata
from typing import Final

_PARTS: Final = (
    # Chinese: ends
    ("([ABZ])端(?!口)", r"\1 end"),
    ("起始(?=U位)", ""),
    ("源端?(?!口)", "source"),
    ("目(?:的|标)(?:端(?!口))?", "dest"),
    ("(?:本端|本地|近端)(?!口)", "local"),
    ("(?:对端|远端)(?!口)", "remote"),
    ("起(?:点|始)|始端(?!口)", "start"),
    ("终(?:点|止)|末端(?!口)", "end"),
    # Chinese: fields
    ("设备(?:名称?)?", "device"),
    ("主机(?:名称?)?", "host"),
    ("服务器(?:名称?)?", "server"),
    ("交换机(?:名称?)?", "switch"),
    ("网卡(?:端?口)?", "nic"),
    ("网口(?:名称?|编?号)?", "port"),
    ("端口(?:名称?|编?号)?", "port"),
    ("接口(?:名称?|编?号)?", "interface"),
    ("机柜(?:名称?|编?号)?", "rack"),
    ("U[位数]|机位", "unit"),
    ("槽位号?", "slot"),
    ("(?:线缆|电缆|光纤)?长度", "length"),
    (r"\((?:米)\)", "(m)"),
    ("(?:线缆|电缆|光纤)?标签(?:号|内容)?|(?:线缆|电缆|光纤)(?:名称?|编?号)|线号", "label"),
    ("(?:端口)?速率|带宽", "speed"),
    ("(?:设备)?(?:类型|角色)", "type"),
    ("轨道?号?", "rail"),
    ("平面号?", "plane"),
    # German
    ("quell(?:e|en)?-?", "source"),
    ("ziel(?:e|-)?", "dest"),
    (r"\bstart(?=ger|port|-)-?", "start"),
    (r"\bend(?=ger|port|-)-?", "end"),
    (r"gegen(?:stelle|seite)n?-?", "remote"),
    (r"\bseite(?= ?[ABZ12]\b)", "side"),
    (r"\bende(?= ?[ABZ12]\b)", "end"),
    ("ger(?:ä|ae)te?(?:-?name)?", "device"),
    (r"\bknoten(?:name)?\b", "node"),
    (r"\brechner(?:name)?\b", "host"),
    ("schnittstelle|anschluss|buchse", "port"),
    ("schrank", "rack"),
    (r"h(?:ö|oe)heneinheit|\bHE\b", "unit"),
    ("steckplatz", "slot"),
    (r"kabel-?l(?:ä|ae)nge|\bl(?:ä|ae)nge\b", "length"),
    (r"kabel-?(?:nr\b\.?|nummer|bezeichnung|beschriftung|id\b)|\bbe(?:zeichnung|schriftung)\b", "label"),
    ("geschwindigkeit|datenrate|bandbreite", "speed"),
    (r"\b(?:ger(?:ä|ae)te-?)?typ\b|\brolle\b", "type"),
    ("schiene", "rail"),
)
_END_LAST: Final = re.compile(
    r"(.+?)\s*(?:\b(?:der|des)\s+)?\(?\b(quelle|ziel|gegenstelle|源端?|目的端?|本端|对端)\)?", re.IGNORECASE
)
"""`Port Ziel`, `Port der Gegenstelle`, `端口(对端)`: the end stands last."""
_ANY: Final = re.compile("|".join(f"(?:{part})" for part, _ in _PARTS), re.IGNORECASE)
_EACH: Final = tuple((re.compile(part, re.IGNORECASE), english) for part, english in _PARTS)


def in_english(cell: str) -> str:
    """A header's cell with its German and Chinese words in English, and Latin letters in place of full-width ones."""
    plain = unicodedata.normalize("NFKC", cell).strip()
    if last := _END_LAST.fullmatch(plain):
        plain = f"{last[2]} {last[1]}"
    return _ANY.sub(_translated, plain) if _ANY.search(plain) else plain


def _translated(found: re.Match[str]) -> str:
    for part, english in _EACH:
        whole = part.match(found.string, found.start())
        if whole and whole.end() == found.end():
            return f" {whole.expand(english)} "
    return found[0]

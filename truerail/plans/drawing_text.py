"""SVG elements as text. Everything foreign is escaped here."""

from xml.sax.saxutils import escape, quoteattr

from truerail.model.names import printable

INK, FAINT, LINE, PANEL = "#1d2733", "#66727f", "#c4ccd4", "#f6f8fa"


def words(
    x: float, y: float, text: str, *, size: int = 11, anchor: str = "middle", fill: str = INK, bold: bool = False
) -> str:
    """A line of text whose baseline is at (x, y)."""
    weight = ' font-weight="600"' if bold else ""
    shown = escape(printable(text, 120))
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{fill}"{weight}>{shown}</text>'


def box(
    x: float, y: float, width: float, height: float, *, fill: str, stroke: str = "none", rx: float = 4, title: str = ""
) -> str:
    """A rectangle, with a tooltip if `title` is not empty."""
    tip = f"<title>{escape(printable(title))}</title>" if title else ""
    shape = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{rx:g}"'
    return f"<rect {shape} fill={quoteattr(fill)} stroke={quoteattr(stroke)}>{tip}</rect>"


def line(x1: float, y1: float, x2: float, y2: float, *, stroke: str, width: float, opacity: float) -> str:
    """A curve that leaves (x1, y1) upwards and arrives at (x2, y2) from below."""
    middle = (y1 + y2) / 2
    path = f"M{x1:g} {y1:g}C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}"
    return f'<path d="{path}" fill="none" stroke="{stroke}" stroke-width="{width:.2g}" opacity="{opacity:.2g}"/>'

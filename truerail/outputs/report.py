"""One evaluation in the requested format. Each format's module is imported on use."""

from truerail.model import Evaluation
from truerail.outputs import Format
from truerail.outputs.options import Options


def render(evaluation: Evaluation, fmt: Format | str, options: Options | None = None) -> str | bytes:
    """The report: bytes for xlsx, text for every other format. Raises ValueError for an unknown format."""
    chosen, asked = Format(fmt), options or Options()
    if chosen is Format.TEXT:
        from truerail.outputs.text import render_text

        return render_text(evaluation, asked)
    if chosen is Format.JSON:
        from truerail.outputs.report_json import render_json

        return render_json(evaluation)
    if chosen is Format.CSV:
        from truerail.outputs.report_csv import render_csv

        return render_csv(evaluation)
    if chosen is Format.XLSX:
        from truerail.outputs.report_xlsx import render_xlsx

        return render_xlsx(evaluation)
    if chosen is Format.JUNIT:
        from truerail.outputs.report_junit import render_junit

        return render_junit(evaluation, asked.fail_on)
    from truerail.outputs.report_html import render_html

    return render_html(evaluation, details=asked.details)


__all__ = ["Format", "Options", "render"]

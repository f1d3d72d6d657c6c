"""Colours of rails, the same in every drawing. Neighbours are distinct for colour-blind readers, too."""

_COLOURS = (
    *("#4269d0", "#e8a30c", "#e4573d", "#3aa394", "#3ca951"),
    *("#d8629b", "#8e58d6", "#6f9bd8", "#9c6b4e", "#7f8a99"),
)


def rail_colour(rail: int) -> str:
    """`#rrggbb`; colours repeat after ten rails."""
    return _COLOURS[rail % len(_COLOURS)]

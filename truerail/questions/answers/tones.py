"""The tone of an answer: good, bad, or unknown. It sets the command line's exit code and the mark before the first
line.
"""

from typing import Any

from truerail.outputs.report_words import Tone
from truerail.questions import question_of

TONES = {True: Tone.GOOD, False: Tone.BAD, None: Tone.DOUBT}
"""By whether something is as planned; None if unknown."""


def tone_of(answer: Any) -> Tone:
    """Good only if everything in question is known to be as planned."""
    return TONES[question_of(answer).good(answer)]

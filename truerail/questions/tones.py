"""The tone of an answer: good, bad, or unknown. It sets the command line's exit code and the mark before the first
line.
"""

from collections.abc import Iterable

from truerail.model.life import LifeState
from truerail.outputs.report_words import Tone
from truerail.questions.models import Blast, Diff, Job, PathAnswer, Storm, Timeline, Where, Why

Answer = Where | Job | Blast | PathAnswer | Diff | Why | Storm | Timeline


def tone_of(answer: Answer) -> Tone:
    """Good only if everything in question is known to be as planned."""
    match answer:
        case Where():
            return _worst(_OF_STATE.get(path.state, Tone.BAD) for path in answer.paths)
        case Job():
            return _job(answer)
        case Blast():
            return _blast(answer)
        case PathAnswer():
            return _worst(SIGHT[path.stays] for path in answer.rails)
        case Diff():
            return Tone.BAD if answer.links or answer.findings else Tone.GOOD
        case Why():
            return Tone.GOOD if answer.finding.state == LifeState.RESOLVED.value else Tone.BAD
        case Storm():
            return Tone.BAD if answer.storms or answer.deadlocks else SIGHT[answer.reported or None]
        case Timeline():
            return Tone.GOOD


_OF_STATE = {"right": Tone.GOOD, "unknown": Tone.DOUBT}
SIGHT = {True: Tone.GOOD, False: Tone.BAD, None: Tone.DOUBT}
"""By whether something is as planned; None if unknown."""


def _worst(tones: Iterable[Tone]) -> Tone:
    """The worst; unknown without any."""
    return max(tones, key=(Tone.GOOD, Tone.DOUBT, Tone.BAD).index, default=Tone.DOUBT)


def _blast(blast: Blast) -> Tone:
    """Good if it can be taken out and no host loses a connection; unknown if its state is unknown."""
    if blast.down_now or blast.hosts or blast.uplink_share_lost >= 1:
        return Tone.DOUBT if blast.down_now is None else Tone.BAD
    return Tone.DOUBT if blast.down_now is None else Tone.GOOD


def _job(job: Job) -> Tone:
    if any(host.lost or host.degraded for host in job.worst) or job.pairs.cut or job.pairs.rerouted or job.causes:
        return Tone.BAD
    return Tone.DOUBT if job.worst or job.pairs.unknown or job.not_in_plan else Tone.GOOD

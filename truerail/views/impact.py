"""The impact of a cause: the number of GPUs that lose their rail."""

from truerail.analysis.cabling import Wiring
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import NONE, Codes
from truerail.model.finding import Cause
from truerail.views.layout import Layout


def harm_of(wiring: Wiring, layout: Layout, cause: Cause, affected: Codes) -> int:
    """The number of GPUs with a cable affected by a cause. Each GPU counts once.

    A cause where only names are wrong affects no GPU. For hosts whose NICs are in another order than planned, the GPUs
    that are nearest to another rail's NIC count.
    """
    if cause.names_only:
        return 0
    harmed = layout.gpus_on(affected)
    return max(harmed, _misordered(wiring, layout, cause)) if cause.kind is CauseKind.GPU_NIC_ORDER else harmed


def _misordered(wiring: Wiring, layout: Layout, cause: Cause) -> int:
    misordered = wiring.gpu_rails.misordered
    return sum(len(misordered.get(layout.code.get(subject, NONE), ())) for subject in dict.fromkeys(cause.subjects))

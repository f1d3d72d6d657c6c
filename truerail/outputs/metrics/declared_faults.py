"""The metrics of open faults: causes one by one, findings without a cause, and how many more there are of each."""

from typing import Final

from truerail.outputs.metrics.declaring import gauge

CAUSE: Final = "fabric pod cause kind severity muted"
FINDING: Final = "fabric pod finding rule severity muted"
"""Labels that identify a cause, and a finding without one."""
_TEXTS: Final = "subject summary action rack unit page_url findings"

CAUSE_INFO = gauge(
    "cause_info", "1", f"{CAUSE} {_TEXTS}",
    "One open cause: at most 200, worst first. The first six labels identify it; texts may change, so that alerts join "
    "them. A cause that is away for the moment stays until its life ends.",
    'truerail_cause_info{severity="critical", muted="no"}',
)  # fmt: skip
CAUSE_GPUS = gauge(
    "cause_affected_gpus", "GPUs", CAUSE,
    "GPUs that a cause affects, or may affect where the evidence does not decide. No series where that is unknown.",
    'topk(5, truerail_cause_affected_gpus{muted="no"})',
)  # fmt: skip
CAUSE_HOSTS = gauge(
    "cause_affected_hosts", "hosts", CAUSE, "Hosts of these GPUs. No series where that is unknown.",
    'sum by (kind) (truerail_cause_affected_hosts{muted="no"})',
)  # fmt: skip
CAUSE_SINCE = gauge(
    "cause_since_timestamp_seconds", "seconds", CAUSE, "When this episode of the cause began.",
    "time() - truerail_cause_since_timestamp_seconds > 3600",
)  # fmt: skip
CAUSES_FOLDED = gauge(
    "causes_folded", "causes", "fabric pod kind severity muted",
    "Open causes beyond the 200 that have their own series.",
    "sum by (fabric) (truerail_causes_folded)",
)  # fmt: skip
FINDING_INFO = gauge(
    "finding_info", "1", f"{FINDING} {_TEXTS.removesuffix(' findings')}",
    "One open finding that no cause explains, as `truerail_cause_info` has causes. None of severity info.",
    'truerail_finding_info{muted="no"}',
)  # fmt: skip
FINDINGS_FOLDED = gauge(
    "findings_folded", "findings", "fabric pod rule severity muted",
    "Open findings without a cause beyond the 200 that have their own series.",
    "sum by (fabric) (truerail_findings_folded)",
)  # fmt: skip

"""The metrics of jobs that a fault hurts: few series, however many jobs run."""

from truerail.outputs.metrics.declaring import gauge

JOB_HURT = gauge(
    "job_hurt", "jobs", "fabric kind",
    "Running jobs that a cause of this kind hurts; `unknown` where hosts have no way to each other without a cause.",
    "sum by (kind) (truerail_job_hurt)",
)  # fmt: skip
JOB_HURT_GPUS = gauge(
    "job_hurt_gpus", "GPUs", "fabric rail",
    "GPUs of running jobs whose rail a cause lies on. No series where the scheduler reports no GPUs.",
    "sum by (rail) (truerail_job_hurt_gpus)",
)  # fmt: skip
JOB_INFO = gauge(
    "job_info", "1", "fabric job_id scheduler",
    "One running job that is hurt now: at most 50, those with most hosts on a fault first. Others have no series.",
    "truerail_job_info",
)  # fmt: skip
JOBS_LEFT_OUT = gauge(
    "jobs_left_out", "jobs", "fabric",
    "Hurt jobs beyond the 50 that have a series of their own. No series while no scheduler has answered.",
    "truerail_jobs_left_out > 0",
)  # fmt: skip

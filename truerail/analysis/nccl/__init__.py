"""A job's NCCL joined with the plan and the cabling: which cable and rail each of its connections uses."""

from truerail.analysis.nccl.ends import End
from truerail.analysis.nccl.job_connections import Crossing, NcclJob, nccl_job

__all__ = ["Crossing", "End", "NcclJob", "nccl_job"]

"""The job: what the user configured, read from a job file, checked and explained."""

from bestbefore.job.job import Job, ServiceJob, StreamJob
from bestbefore.job.reading import load_job, read_job

__all__ = ["Job", "ServiceJob", "StreamJob", "load_job", "read_job"]

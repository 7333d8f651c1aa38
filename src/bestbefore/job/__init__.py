"""The job: what the user configured, read from a job file, checked and explained."""

from bestbefore.job.explanation import explain
from bestbefore.job.job import Job, Qos, ServiceSettings, SinkSettings, StreamSettings, ViewSettings
from bestbefore.job.reading import load_job, read_job

__all__ = [
    "Job",
    "Qos",
    "ServiceSettings",
    "SinkSettings",
    "StreamSettings",
    "ViewSettings",
    "explain",
    "load_job",
    "read_job",
]

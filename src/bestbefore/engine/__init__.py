"""The engine: one continuous query from its stream to its answers."""

from bestbefore.engine.engine import Engine, RunningQuery
from bestbefore.engine.job import Job
from bestbefore.engine.job_file import load_job, read_job
from bestbefore.engine.quality import Quality

__all__ = ["Engine", "Job", "Quality", "RunningQuery", "load_job", "read_job"]

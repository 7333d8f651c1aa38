"""The engine: one continuous query from its stream to its answers."""

from bestbefore.engine.engine import Engine
from bestbefore.engine.progress import Figures
from bestbefore.engine.quality import Quality
from bestbefore.engine.running_query import RunningQuery
from bestbefore.engine.sinks import Sink

__all__ = ["Engine", "Figures", "Quality", "RunningQuery", "Sink"]

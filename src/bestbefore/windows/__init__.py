"""Windows over a stream: which instants they close at and what they hold."""

from bestbefore.windows.instants import Instants
from bestbefore.windows.sliding import SlidingWindow

__all__ = ["Instants", "SlidingWindow"]

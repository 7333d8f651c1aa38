"""Windows over a stream: which instants they close at and what they hold."""

from bestbefore.windows.sliding import SlidingWindow

__all__ = ["SlidingWindow"]

"""What is written to disk so that a crash loses and repeats nothing."""

from bestbefore.checkpoint.ledger import DurableLedger, Journal
from bestbefore.checkpoint.snapshot import load_snapshot, save_snapshot

__all__ = ["DurableLedger", "Journal", "load_snapshot", "save_snapshot"]

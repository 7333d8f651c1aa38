"""What is written to disk so that a crash loses and repeats nothing."""

from bestbefore.checkpoint.journal import Journal
from bestbefore.checkpoint.ledger import DurableLedger, Reservations
from bestbefore.checkpoint.snapshot import load_snapshot, save_snapshot

__all__ = ["DurableLedger", "Journal", "Reservations", "load_snapshot", "save_snapshot"]

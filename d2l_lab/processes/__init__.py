"""Processes that a notebook starts: their output relayed, a deadline, no orphan, loopback only."""

"""Stratified follow-up sets for query contextualization, built from real transcripts."""

__version__ = "0.1.0"

"""Exact and published motions to compare a run with."""

"""Filters over columns of events: which rows a condition holds for, and what of it needs a run."""

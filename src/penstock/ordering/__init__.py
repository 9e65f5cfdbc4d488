"""Puts events that arrive out of order into the order of the input, and says when they may be consumed."""

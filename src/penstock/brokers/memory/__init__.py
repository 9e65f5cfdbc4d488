"""Brokers inside this process: for tests, and for detection without a server."""

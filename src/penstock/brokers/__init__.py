"""Publish/subscribe systems behind one interface: in this process, and NATS."""

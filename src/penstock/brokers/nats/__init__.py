"""NATS: the only place that imports its client."""

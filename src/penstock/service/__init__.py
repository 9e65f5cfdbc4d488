"""Subscribe to patterns over a network of brokers, and publish events to it."""

"""Subscribe to patterns over a network of brokers, and publish events to it."""

from penstock.service.publishers import Publisher
from penstock.service.service import Service
from penstock.service.subscriptions import Subscription

__all__ = ["Publisher", "Service", "Subscription"]

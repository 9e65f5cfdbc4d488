"""The in-memory broker, for tests of what uses brokers: services in one process share it.

>>> from penstock.service.service import Service
>>> memory = Memory()
>>> one, other = Service(memory, embedded=True), Service(memory)
"""

from penstock.brokers.memory.broker import Memory

__all__ = ["Memory"]

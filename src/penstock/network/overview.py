"""The whole network at one moment, from what its nodes say and what the directory has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.brokers.protocol import Broker
from penstock.errors import DataError
from penstock.network.addresses import DIRECTORY, NODES
from penstock.network.agreement import View
from penstock.network.directory import Directory
from penstock.network.records import from_json
from penstock.network.reports import DetectorReport, NodeReport


@dataclass(frozen=True)
class Overview:
    """What there is, and how it does; ``rates`` are events a second by detector, since the overview before."""

    directory: Directory
    nodes: Mapping[str, NodeReport]
    listening: Mapping[str, tuple[str, ...]]
    refused: Mapping[str, str]
    rates: Mapping[str, float] = field(default_factory=dict)

    def report(self, detector: str) -> DetectorReport | None:
        """What the node that hosts a detector says of it."""
        known = self.directory.detectors.get(detector)
        node = self.nodes.get(known.node) if known else None
        return next((one for one in node.detectors if one.name == detector), None) if node else None


class Watching:
    """Looks at a network again and again."""

    def __init__(self, broker: Broker, directory: str | None = None) -> None:
        self._broker, self._site = broker, directory
        self._before: dict[str, tuple[int, int]] = {}

    async def look(self) -> Overview:
        """How it is now."""
        bucket = await self._broker.bucket(DIRECTORY, self._site)
        view = View()
        for key in await bucket.keys():
            entry = await bucket.get(key)
            if entry is not None:
                view.take(entry)
        told = {name: form for name, form in view.told.items() if isinstance(form, dict)}
        return Overview(
            directory=view.directory,
            nodes=(nodes := await self._reports()),
            listening={name: tuple(form.get("detectors", ())) for name, form in told.items() if "refused" not in form},
            refused={name: str(form["refused"]) for name, form in told.items() if "refused" in form},
            rates=self._rates(nodes),
        )

    async def _reports(self) -> dict[str, NodeReport]:
        bucket = await self._broker.bucket(NODES, self._site)
        reports = {}
        for key in await bucket.keys():
            entry = await bucket.get(key)
            if entry is not None and entry.value is not None:
                try:
                    reports[key] = from_json(NodeReport, json.loads(entry.value))
                except (DataError, ValueError):
                    continue  # what says nothing that can be read is shown as silent
        return reports

    def _rates(self, nodes: Mapping[str, NodeReport]) -> dict[str, float]:
        rates = {}
        for node in nodes.values():
            for one in node.detectors:
                at, events = self._before.get(one.name, (node.at, one.events))
                if node.at > at:
                    rates[one.name] = max(one.events - events, 0) / ((node.at - at) / 1_000_000)
                if node.at != at or one.name not in self._before:
                    self._before[one.name] = (node.at, one.events)
        return rates

"""What a detector reads, and where it begins."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.brokers.protocol import Broker
from penstock.network.addresses import beat_topic, event_topic, found_topic, progress_topic, stream_of
from penstock.network.agreement import Place, View
from penstock.network.directory import Detector, Directory
from penstock.network.running import Input

Positions = Mapping[str, int] | None
"""Where inputs are by now; None for a detector that is new, so that all of them begin."""


async def inputs_of(
    detector: Detector, directory: Directory, view: View, broker: Broker, positions: Positions
) -> dict[str, Input]:
    """Its types at the sites of their sources, and other detectors where they run."""
    types = sorted({one.type for one in detector.events})
    inputs: dict[str, Input] = {}
    for site in sorted({directory.sources[name].site for one in detector.events for name in one.sources}):
        topics = [topic(site, type) for type in types for topic in (event_topic, beat_topic)]
        after = await _beginning(site, detector, directory, view, broker, positions)
        inputs[site] = Input(site, tuple(topics), after)
    for part in detector.parts:
        for place in view.places.get(part.detector, ()):
            topics = [topic(place.site, part.detector) for topic in (found_topic, progress_topic)]
            after = await _since(place, part.detector, detector, view, broker, positions)
            before = {f"{site} {part.detector}": number for site, number in place.before.items()}
            inputs[f"{place.site} {part.detector}"] = Input(place.site, tuple(topics), after, before)
    return inputs


async def _since(place: Place, part: str, detector: Detector, view: View, broker: Broker, positions: Positions) -> int:
    """Where to begin with what another has found: all of it, unless it was there before this detector."""
    born = view.agreement.born
    if positions is not None or born.get(part) == born.get(detector.name):
        return place.after
    return await broker.last(stream_of(place.site), place.site)


async def _beginning(
    site: str, detector: Detector, directory: Directory, view: View, broker: Broker, positions: Positions
) -> int:
    """Where to begin at a site: now, or where a source came that was not there when the detector began."""
    if positions is None:
        return await broker.last(stream_of(site), site)
    if site in positions:
        return positions[site]
    there = {name for name in detector.sources if name in directory.sources and directory.sources[name].site == site}
    return min((view.origins[name] for name in there & view.origins.keys()), default=0)

"""Stand-in for a node."""

from __future__ import annotations
import asyncio, sys
from penstock.bench.office.clients import OwnDetection
from penstock.bench.office.setting import *
from penstock.bench.office.talking import end_with_input, say
from penstock.brokers.nats.broker import connect
from penstock.brokers.protocol import Stream
from penstock.brokers.topics import REST
from penstock.brokers.wire import to_json
from penstock.detection.output import cloudevent


async def main(setting):
    day = setting.day()
    expected(day)
    broker = await connect(AT_OFFICE, name="node")
    await broker.keep(Stream("penstock-office", ((OFFICE, REST),)))
    if setting.way == "network":
        f = await broker.follow("penstock-office", [(OFFICE, k, t) for k in ("event", "beat") for t in TYPES], 0)
        d = OwnDetection(day.sources)
    say("ready")
    end_with_input()
    while True:
        if setting.way != "network":
            await asyncio.sleep(1)
            continue
        for one in d.take(await f.batch()):
            await broker.publish((OFFICE, "found", "C"), to_json(cloudevent(one)), id=one.id)


asyncio.run(main(Setting.of_json(sys.argv[1])))

"""``penstock node`` and ``penstock watch`` as people use them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

from penstock.brokers.nats.server import Server, free_port
from penstock.network.node import Settings
from penstock.service.service import Service


def penstock(*words: str) -> subprocess.CompletedProcess[str]:
    looks = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-m", "penstock", *words], capture_output=True, text=True, env=looks, timeout=60, check=False
    )


def test_one_view_has_sites_detectors_and_what_waits_for_whom() -> None:
    async def main(server: Server) -> str:
        settings = Settings(beat=0.1, expiry=5)
        async with Service(server.url, site="office", embedded=True, settings=settings) as service:
            open_type = service.create_type("Open", door=str)
            one = await service.register_type(open_type, "door-1", heartbeat=None)
            await service.register_type(open_type, "door-2", heartbeat=None)
            await service.subscribe("[Open(door = $d)]")
            await one.publish(one.create("Open", 5, door="D1"))
            await asyncio.sleep(0.5)
            shown = await asyncio.to_thread(penstock, "watch", "--once", "--broker", server.url)
            assert shown.returncode == 0
            return shown.stdout

    with Server() as server:
        shown = asyncio.run(main(server))
    lines = shown.splitlines()
    assert any("office" in line and "yes" in line for line in lines)
    assert any("guaranteed" in line and "[Open(door = $d)]" in line for line in lines)
    assert any("door-2" in line and "office-client" in line for line in lines)
    [heads] = [line for line in lines if "detector" in line and "waits for" in line]
    assert [name for name in ("per s", "wait ms", "p50 ms", "p99 ms") if name not in heads] == []


def test_no_broker_is_an_error_and_no_traceback() -> None:
    for command in (["watch", "--once"], ["node", "--site", "office"]):
        result = penstock(*command, "--broker", f"nats://127.0.0.1:{free_port()}")
        assert result.returncode == 1
        assert "no NATS server answers" in result.stderr
        assert "Traceback" not in result.stderr


def test_a_bad_duration_names_the_option() -> None:
    result = penstock("node", "--site", "office", "--expiry", "soon")
    assert result.returncode == 2
    assert "--expiry" in result.stderr

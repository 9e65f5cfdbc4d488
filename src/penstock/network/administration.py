"""What an administrator may ask of all nodes, as JSON on the administration topic."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from penstock.brokers.protocol import Bucket
from penstock.errors import DataError, nearest
from penstock.network.agreement import View, write
from penstock.network.directory import Subscription
from penstock.network.policies import policy_of


async def administer(bucket: Bucket, view: View, body: bytes) -> None:
    """Do what a message asks: ``{"do": "policy", "subscription": …, "policy": …}``."""
    request = _read(body)
    verb = request.get("do")
    if verb != "policy":
        raise DataError(f"{verb!r} is nothing that an administrator can ask", hint="there is: policy")
    record = _subscription(view, str(request.get("subscription")))
    changed = replace(record, policy=policy_of(str(request.get("policy"))).name)
    if changed != record:
        await write(bucket, changed)


def _read(body: bytes) -> dict[str, Any]:
    try:
        request = json.loads(body)
    except ValueError as error:
        raise DataError(f"not valid JSON: {error}") from None
    if not isinstance(request, dict):
        raise DataError("a request is a JSON object")
    return request


def _subscription(view: View, name: str) -> Subscription:
    known = {one.name: one for one in view.subscriptions}
    if name not in known:
        close = nearest(name, known)
        raise DataError(f"there is no subscription {name!r}", hint=f"did you mean {close}?" if close else None)
    return known[name]

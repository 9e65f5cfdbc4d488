"""Tasks that end when they are told to."""

from __future__ import annotations

import asyncio

_AGAIN = 0.05


async def end(*tasks: asyncio.Task[object] | None) -> None:
    """Cancel tasks until they are over: a client of a broker may swallow a cancellation while it sends.

    >>> async def main() -> bool:
    ...     task = asyncio.create_task(asyncio.sleep(60))
    ...     await end(task)
    ...     return task.cancelled()
    >>> asyncio.run(main())
    True
    """
    given = [task for task in tasks if task is not None]
    left = {task for task in given if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=_AGAIN)
    for task in given:
        if not task.cancelled():
            task.exception()  # it was seen by whoever it concerns

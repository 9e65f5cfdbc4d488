"""The composites that are wanted of those that were found, of all their definitions together, in order."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.detection.ordering import leaf_ranks, output_order
from penstock.engine.composed import Composed, has_parts, labels_of
from penstock.engine.found import Found, FoundDefinition
from penstock.engine.kept import Ints, joined, ranges
from penstock.engine.texts import Values
from penstock.events.buffers import column_over
from penstock.events.constants import constant
from penstock.events.table import TIME


@dataclass(frozen=True)
class Selection:
    """Some definitions' composites, one after the other; columns are given in the order of results."""

    found: Found
    wanted: Container[str]

    def __len__(self) -> int:
        return sum(len(one.composites) for one in self.definitions)

    @cached_property
    def definitions(self) -> list[FoundDefinition]:
        """The definitions that are wanted and have composites."""
        return [one for one in self.found.definitions if one.name in self.wanted and len(one.composites)]

    @cached_property
    def is_in_order(self) -> bool:
        """Whether the composites stand in the order of results as they were found, which most do."""
        if len(self.definitions) != 1:
            return not self.definitions
        return self.definitions[0].composites.is_in_order

    @cached_property
    def order(self) -> Ints:
        """The rows in the order of results."""
        if self.is_in_order:
            return np.arange(len(self))
        counts = np.diff(self._bounds(lambda one: one.leaf_offsets))
        words = [self._all(lambda one, n=n: np.ascontiguousarray(one.words[:, n])) for n in range(3)]  # type: ignore[misc]
        ranks: Ints = np.argsort(np.argsort([one.name.encode() for one in self.definitions]))
        stamps = self._all(lambda one: one.lo), self._all(lambda one: one.hi)
        bounds = np.concatenate([[0], np.cumsum(counts)])
        leaves = self._all(lambda one: one.leaves)
        if not self.found.in_order:
            leaves = leaf_ranks(self.found.events, leaves)
        return output_order(stamps, self._each(ranks), bounds, leaves, words)

    def types(self) -> pa.Array:
        """The types."""
        if len(self.definitions) == 1:
            return constant(self.definitions[0].name, pa.string(), len(self))
        names = pa.array([one.name for one in self.definitions], pa.string())
        return names.take(pa.array(self._each(np.arange(len(names)))[self.order]))

    def instants(self, end: str) -> pa.Array:
        """One end of the stamps, ``lo`` or ``hi``."""
        return column_over(self._ordered(self._all(lambda one: getattr(one, end))), TIME)

    def ids(self) -> pa.Array:
        """The ids."""
        if self.is_in_order and self.definitions:
            return self.definitions[0].composites.ids()
        whole = pa.concat_arrays([one.composites.ids() for one in self.definitions] or [pa.array([], pa.string())])
        return whole.take(pa.array(self.order))

    def values(self, attribute: str) -> Values:
        """An attribute's values, null for definitions that have none."""
        some = [self._values(one, attribute) for one in self.definitions]
        kinds = self._ordered(joined([kinds for kinds, _ in some]))
        bits = self._ordered(joined([bits for _, bits in some]))
        return Values(kinds.astype(np.int8, copy=False), bits, self.found.texts)

    @staticmethod
    def _values(one: FoundDefinition, attribute: str) -> tuple[NDArray[np.int8], Ints]:
        if attribute not in one.attributes:
            return np.zeros(len(one.composites), np.int8), np.zeros(len(one.composites), np.int64)
        column = one.attributes.index(attribute)
        return one.composites.kinds[:, column], one.composites.bits[:, column]

    @cached_property
    def is_flat(self) -> bool:
        """Whether all parts are rows of the input that have no parts themselves."""
        return all(one.composites.is_flat for one in self.definitions) and not any(
            len(has_parts(table)) for table in self.found.events.pieces
        )

    def parts(self) -> tuple[Ints, Ints, Ints]:
        """The parts of all composites: where those of each begin and end; owner and number of each part."""
        bounds, owners, rows = (
            self._bounds(lambda one: one.offsets),
            self._all(lambda one: one.owners),
            self._all(lambda one: one.rows),
        )
        if self.is_in_order:
            return bounds, owners, rows
        counts = np.diff(bounds)[self.order]
        return np.concatenate([[0], np.cumsum(counts)]), owners[self._which], rows[self._which]

    @cached_property
    def _which(self) -> Ints:
        """The parts in the order of results."""
        bounds = self._bounds(lambda one: one.offsets)
        return ranges(bounds[:-1][self.order], np.diff(bounds)[self.order])

    def leaves(self) -> tuple[Ints, Ints]:
        """The events below all composites, by the numbers of their rows: how many each has, and which."""
        counts = np.diff(self._bounds(lambda one: one.leaf_offsets))
        starts = np.concatenate([[0], np.cumsum(counts)])[:-1]
        which = ranges(starts[self.order], counts[self.order])
        return counts[self.order], self._all(lambda one: one.leaves)[which]

    def words(self) -> NDArray[np.uint64]:
        """The digits of the ids, a row for each."""
        return self._ordered(self._all(lambda one: one.words))

    def labels(self) -> pa.Array:
        """The labels of parts as text, null where there is none."""
        if not any(one.labels and one.composites.labels.any() for one in self.definitions):
            return constant(None, pa.string(), sum(len(one.composites.labels) for one in self.definitions))
        texts: list[str | None] = []
        codes = []
        for one in self.definitions:
            masks, own = np.unique(one.composites.labels, return_inverse=True)
            codes.append(own.reshape(-1) + len(texts))
            texts += [",".join(sorted(labels_of(mask, list(one.labels)))) or None for mask in masks.tolist()]
        return pa.array(texts, pa.string()).take(pa.array(joined(codes)[self._which]))

    def _ordered(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of all composites in the order of results."""
        return values if self.is_in_order else values[self.order]

    def _all(self, of: Callable[[Composed], NDArray[Any]]) -> NDArray[Any]:
        return joined([of(one.composites) for one in self.definitions])

    def _bounds(self, of: Callable[[Composed], Ints]) -> Ints:
        if len(self.definitions) == 1:
            return of(self.definitions[0].composites)
        counts = joined([np.diff(of(one.composites)) for one in self.definitions])
        return np.concatenate([[0], np.cumsum(counts)])

    def _each(self, values: Sequence[int] | Ints) -> Ints:
        """One value for each definition, repeated for its composites."""
        return np.repeat(np.asarray(values, np.int64), [len(one.composites) for one in self.definitions])

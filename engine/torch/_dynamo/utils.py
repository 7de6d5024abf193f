"""torch._dynamo.utils: what Dynamo counted so far.

    torch._dynamo.utils.counters["stats"]["unique_graphs"]
"""
import collections
from torch._dynamo import _counts


class _Counters:
    """A Counter a kind; those of Dynamo itself count from the last clear()."""

    def __init__(self):
        self._start = (0, 0, 0, 0, ())
        self._own = {}

    def _facts(self):
        total, ok, graphs, calls, breaks = _counts()
        first = self._start
        facts = {"frames": {"total": total - first[0], "ok": ok - first[1]}, "stats": {"calls_captured": calls - first[3], "unique_graphs": graphs - first[2]},
                 "graph_break": collections.Counter(breaks[len(first[4]):])}
        return {kind: collections.Counter({name: count for name, count in counts.items() if count}) for kind, counts in facts.items()}

    def __getitem__(self, kind):
        facts = self._facts()
        if kind in facts:
            return facts[kind]
        if kind not in self._own:
            self._own[kind] = collections.Counter()
        return self._own[kind]

    def _all(self):
        merged = {kind: counts for kind, counts in self._facts().items() if counts}
        merged.update(self._own)
        return merged

    def clear(self):
        self._start = _counts()
        self._own = {}

    def keys(self):
        return self._all().keys()

    def values(self):
        return self._all().values()

    def items(self):
        return self._all().items()

    def __iter__(self):
        return iter(self._all())

    def __len__(self):
        return len(self._all())

    def __contains__(self, kind):
        return kind in self._all()

    def __repr__(self):
        return f"defaultdict(<class 'collections.Counter'>, {self._all()})"


counters = _Counters()

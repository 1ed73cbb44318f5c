"""Counters and histograms, as Prometheus reads them (text format 0.0.4)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

TEXT = b"text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0)


class Histogram:
    """How often a value was at most each bound."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def lines(self, name: str, labels: str = "") -> Iterator[str]:
        """Yield its lines; ``labels`` as in ``route="/v1/query"``."""
        total = 0
        comma = "," if labels else ""
        for bound, count in zip((*self.bounds, "+Inf"), self.counts, strict=True):
            total += count
            yield f'{name}_bucket{{{labels}{comma}le="{bound}"}} {total}'
        braced = f"{{{labels}}}" if labels else ""
        yield f"{name}_sum{braced} {self.sum:.6f}"
        yield f"{name}_count{braced} {total}"


class Metrics:
    """What a service counts."""

    def __init__(self) -> None:
        self.requests: dict[tuple[str, str, int], int] = {}  # by route, method, status
        self.seconds: dict[str, Histogram] = {}  # by route
        self.texts = 0  # looked up
        self.added = self.replaced = self.removed = 0
        self.groups = Histogram(SIZES)  # requests that were answered together
        self.commits = Histogram(SECONDS)

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count an answer."""
        key = route, method, status
        self.requests[key] = self.requests.get(key, 0) + 1
        known = self.seconds.get(route)
        if known is None:
            known = self.seconds[route] = Histogram(SECONDS)
        known.observe(seconds)

    def page(self, gauges: dict[str, tuple[str, float]]) -> bytes:
        """Return all metrics; ``gauges``: what is as it is now, with a sentence about it."""
        lines = ["# HELP lookalike_requests_total Answers.", "# TYPE lookalike_requests_total counter"]
        for (route, method, status), count in sorted(self.requests.items()):
            lines.append(f'lookalike_requests_total{{route="{route}",method="{method}",status="{status}"}} {count}')
        lines += ["# HELP lookalike_request_seconds Time from a request's head to its answer.",
                  "# TYPE lookalike_request_seconds histogram"]  # fmt: skip
        for route, histogram in sorted(self.seconds.items()):
            lines += histogram.lines("lookalike_request_seconds", f'route="{route}"')
        for name, about, histogram in (
            ("lookalike_query_group_requests", "Queries that were answered together.", self.groups),
            ("lookalike_commit_seconds", "Time to write a group of changes.", self.commits),
        ):
            lines += [f"# HELP {name} {about}", f"# TYPE {name} histogram", *histogram.lines(name)]
        for name, about, count in (
            ("texts_queried", "Texts that were looked up.", self.texts),
            ("documents_added", "Documents that were added, those that replaced others included.", self.added),
            ("documents_replaced", "Documents whose place another one took.", self.replaced),
            ("documents_removed", "Documents that were removed.", self.removed),
        ):
            full = f"lookalike_{name}_total"
            lines += [f"# HELP {full} {about}", f"# TYPE {full} counter", f"{full} {count}"]
        for name, (about, value) in gauges.items():
            lines += [f"# HELP lookalike_{name} {about}", f"# TYPE lookalike_{name} gauge", f"lookalike_{name} {value:.12g}"]
        return ("\n".join(lines) + "\n").encode()

# SPDX-License-Identifier: MIT OR Apache-2.0
"""Medians, spreads, and when a ratio is not worth quoting."""

import statistics

# Interquartile range of the pair ratios over their median.
NOISY = 0.15


def merit(workload, sample):
    """The figure of one sample: nanoseconds per unit, or the named value."""
    if workload.value:
        return sample.values.get(workload.value)
    return sample.wall_ns / max(sample.units, 1)


def merits(workload, row):
    """Of all samples."""
    figures = [merit(workload, sample) for sample in row.samples]
    return [figure for figure in figures if figure is not None]


def spread(figures):
    """Interquartile range over median."""
    if len(figures) < 2:
        return 0.0
    low, _, high = statistics.quantiles(figures, n=4, method="inclusive")
    middle = statistics.median(figures)
    return (high - low) / middle if middle else 0.0


class Ratio:
    """Of two rows, turn by turn."""

    def __init__(self, over, under):
        pairs = [a / b for a, b in zip(over, under) if b]
        self.known = bool(pairs)
        self.value = statistics.median(pairs) if pairs else 0.0
        self.noisy = spread(pairs) > NOISY

    def text(self):
        """For a table."""
        if not self.known:
            return "-"
        return "noisy" if self.noisy else f"{self.value:.2f}"


def is_peer(impl):
    """Neither a serial program nor this library."""
    return impl.split("-")[0] not in ("serial", "wsteal")


def best_peer(workload, rows, workers):
    """The fastest peer at this number of workers, or None."""
    peers = [r for r in rows if is_peer(r.impl) and r.workers == workers
             and not r.error and merits(workload, r)]
    if not peers:
        return None
    return min(peers, key=lambda r: statistics.median(merits(workload, r)))


def baseline(workload, rows, row):
    """The row that ratios are quoted against, or None."""
    same = [r for r in rows if r.impl == workload.baseline and not r.error
            and merits(workload, r)]
    exact = [r for r in same if r.workers == row.workers]
    return (exact or same or [None])[0]

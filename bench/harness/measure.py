# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs the implementations of a workload in turns."""

import contextlib
import os
import sys

from .program import Failed, Program

TIMEOUT_S = 120


class Row:
    """One implementation with one number of workers, at one point."""

    def __init__(self, workload, point, impl, workers, size):
        self.workload = workload
        self.point = point
        self.impl = impl
        self.workers = workers
        self.size = size
        self.samples = []
        self.peak_kib = 0
        self.allocs = None  # per unit
        self.error = ""

    def key(self):
        """What names it in a report."""
        return self.workload, self.point, self.impl, self.workers


def cpus():
    """How many this process may use."""
    return len(os.sched_getaffinity(0))


def plan(workload, options):
    """The rows of a workload, point by point."""
    workers = options.workers or workload.workers or sorted({1, cpus()})
    impls = [i for i in workload.programs
             if not options.impl or i in options.impl]
    for point in workload.points:
        rows = []
        for impl in impls:
            size = options.size or workload.size_for(impl)
            serial = impl.split("-")[0] == "serial"
            for n in [1] if serial else workers:
                rows.append(Row(workload.name, point, impl, n, size))
        yield rows


class Progress:
    """A bar on a terminal, and nothing elsewhere."""

    def __init__(self, total):
        self.total = total
        self.done = 0
        self.shown = sys.stderr.isatty()

    def step(self, text):
        """One sample more."""
        self.done += 1
        if self.shown:
            width = 30
            full = width * self.done // max(self.total, 1)
            sys.stderr.write(f"\r[{'#' * full}{' ' * (width - full)}] "
                             f"{self.done}/{self.total} {text[:40]:40}")
            sys.stderr.flush()

    def clear(self):
        """Before something is printed."""
        if self.shown:
            sys.stderr.write("\r" + " " * 90 + "\r")
            sys.stderr.flush()


@contextlib.contextmanager
def started(workload, rows, timeout):
    """All programs of the rows, set up and stopped; none survives."""
    programs = {}
    try:
        for row in rows:
            try:
                program = Program(workload.programs[row.impl], row.workers,
                                  row.size, row.point)
                programs[row.key()] = program
                program.ready(timeout)
                program.pause()
            except Failed as error:
                row.error = str(error)
        yield programs
    finally:
        for program in programs.values():
            program.kill()


def check_results(rows):
    """Equal sizes must give equal results; the serial one is right, or else
    what most say."""
    for size in {row.size for row in rows}:
        same = [r for r in rows if r.size == size and r.samples]
        votes = [s.check for r in same for s in r.samples]
        if not votes:
            continue
        serial = [s.check for r in same if r.impl == "serial"
                  for s in r.samples]
        right = serial[0] if serial else max(sorted(set(votes)),
                                             key=votes.count)
        for row in same:
            wrong = [s.check for s in row.samples if s.check != right]
            if wrong:
                row.error = f"wrong result {wrong[0]}, not {right}"


def take_turns(workload, rows, samples, progress, timeout=TIMEOUT_S):
    """A warm-up of each, then A B C A B C ...; fills the rows in."""
    with started(workload, rows, timeout) as programs:
        for turn in range(-1, samples):
            for row in rows:
                if row.error:
                    continue
                try:
                    sample = programs[row.key()].sample(timeout)
                except Failed as error:
                    row.error = str(error)
                    continue
                if turn >= 0:
                    row.samples.append(sample)
                progress.step(f"{row.workload} {row.point} {row.impl}")
        for row in rows:
            if not row.error:
                try:
                    row.peak_kib, _ = programs[row.key()].end(timeout)
                except Failed as error:
                    row.error = str(error)
    check_results(rows)


def count_allocations(workload, rows, library, timeout=TIMEOUT_S):
    """In a run of its own: of the second sample, the first warms up."""
    for row in rows:
        if row.error or not row.samples:
            continue
        try:
            program = Program(workload.programs[row.impl], row.workers,
                              row.size, row.point, library)
            try:
                program.ready(timeout)
                program.sample(timeout)
                units = program.sample(timeout).units
                _, calls = program.end(timeout)
            finally:
                program.kill()
        except Failed as error:
            row.error = str(error)
            continue
        if calls >= 0:
            row.allocs = calls / max(units, 1)

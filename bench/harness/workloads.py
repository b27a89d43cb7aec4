# SPDX-License-Identifier: MIT OR Apache-2.0
"""What there is to run: workload.ini of each folder, and the manifest that
CMake wrote about the programs it built."""

import configparser
import os
import shlex

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Refused(Exception):
    """The user asked for something that cannot be; the text says what."""


class Workload:
    """One folder of bench/, and the programs that were built from it."""

    def __init__(self, name, options):
        self.name = name
        self.title = options["title"]
        self.shows = options["shows"]
        self.unit = options["unit"]
        self.size = options.getint("size")
        self.small = options.getint("small", self.size)
        self.tiny = options.getint("tiny")
        self.slow = options.get("slow", "").split()
        self.points = options.get("points", "").split() or [""]
        self.workers = [int(n) for n in options.get("workers", "").split()]
        self.value = options.get("value", "")
        self.value_unit = options.get("value_unit", "")
        self.series = options.get("series", "").split()
        self.picture = options.get("picture", "speedup")
        self.baseline = options.get("baseline", "serial")
        self.programs = {}

    def size_for(self, impl):
        """The default size of an implementation."""
        return self.small if impl in self.slow else self.size

    def unit_text(self):
        """What the figures of merit are."""
        return self.value_unit if self.value else "ns/" + self.unit


class Manifest:
    """The programs of one build, and how they were compiled."""

    def __init__(self, build):
        self.header = {}
        self.programs = []
        path = os.path.join(build, "bench", "manifest")
        try:
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
        except OSError as error:
            raise Refused(
                f"{path}: {error.strerror}; build the benchmarks first: "
                "cmake --preset bench && cmake --build --preset bench"
            ) from error
        for line in lines:
            if "|" in line:
                self.programs.append(line.split("|", 2))
            elif ": " in line:
                name, value = line.split(": ", 1)
                self.header[name] = value.strip()


def load_sources():
    """All workloads by name, without programs."""
    workloads = {}
    for name in sorted(os.listdir(BENCH)):
        path = os.path.join(BENCH, name, "workload.ini")
        if os.path.exists(path):
            parser = configparser.ConfigParser(interpolation=None)
            parser.read(path, encoding="utf-8")
            workloads[name] = Workload(name, parser["workload"])
    return workloads


def load(build):
    """All workloads by name, with what the build has; and the manifest."""
    manifest = Manifest(build)
    workloads = load_sources()
    for name, impl, command in manifest.programs:
        if name in workloads:
            workloads[name].programs[impl] = shlex.split(command)
    return workloads, manifest


def choose(workloads, names):
    """The named ones, or all that have a program."""
    for name in names:
        if name not in workloads:
            raise Refused(
                f"no workload {name}; there are: " + " ".join(workloads)
            )
        if not workloads[name].programs:
            raise Refused(f"nothing was built for workload {name}")
    return [w for n, w in workloads.items()
            if w.programs and (n in names or not names)]

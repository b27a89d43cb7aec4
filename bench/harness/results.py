# SPDX-License-Identifier: MIT OR Apache-2.0
"""The CSV file: where it was measured, and every sample."""

import csv
import datetime
import os
import platform
import statistics
import subprocess

from .measure import Row, cpus
from .program import Sample
from .workloads import BENCH, Refused

COLUMNS = ["workload", "point", "impl", "workers", "size", "sample", "wall_ns",
           "cpu_ns", "units", "check", "peak_kib", "allocs", "values", "series"]
# A longer series is kept as this many quantiles.
SERIES_KEPT = 200


def first_of(path, start, otherwise="unknown"):
    """What follows `start` in the first such line of a file."""
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.startswith(start):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return otherwise


def commit():
    """Of the sources; + if they were changed since."""
    def git(*words):
        return subprocess.run(["git", "-C", BENCH, *words], text=True,
                              capture_output=True, check=True).stdout.strip()
    try:
        text = git("rev-parse", "--short=12", "HEAD")
        return text + ("+" if git("status", "--porcelain") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def describe(manifest, words):
    """The header of a file."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc)
                .strftime("%Y-%m-%d %H:%M UTC"),
        "processor": first_of("/proc/cpuinfo", "model name",
                              platform.processor() or "unknown"),
        "cpus": str(cpus()),
        "memory": first_of("/proc/meminfo", "MemTotal"),
        "kernel": f"{platform.system()} {platform.release()}",
        "compiler": manifest.header.get("compiler", "unknown"),
        "flags": manifest.header.get("flags", "unknown"),
        "commit": commit(),
        "arguments": " ".join(words),
    }


def kept(series):
    """The series, or its quantiles."""
    if len(series) <= SERIES_KEPT:
        return series
    return statistics.quantiles(series, n=SERIES_KEPT + 1, method="inclusive")


def write(path, header, rows):
    """Everything, so that a report can be made from the file alone."""
    try:
        with open(path, "w", newline="", encoding="utf-8") as file:
            for name, value in header.items():
                file.write(f"# {name}: {value}\n")
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for row in rows:
                for number, s in enumerate(row.samples):
                    writer.writerow([
                        row.workload, row.point, row.impl, row.workers,
                        row.size, number, s.wall_ns, s.cpu_ns, s.units,
                        s.check, row.peak_kib,
                        "" if row.allocs is None else f"{row.allocs:.6g}",
                        ";".join(f"{k}={v:.6g}" for k, v in s.values.items()),
                        ";".join(k + "=" + ":".join(f"{x:.6g}" for x in kept(v))
                                 for k, v in s.series.items())])
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from error


def pairs(text):
    """name=value;name=value"""
    return [part.split("=", 1) for part in text.split(";") if part]


def read(path):
    """The header and the rows of a file."""
    header, rows = {}, {}
    try:
        with open(path, newline="", encoding="utf-8") as file:
            lines = file.readlines()
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from error
    for line in lines:
        if line.startswith("# ") and ": " in line:
            name, value = line[2:].rstrip("\n").split(": ", 1)
            header[name] = value
    table = csv.DictReader(l for l in lines if not l.startswith("#"))
    if table.fieldnames != COLUMNS:
        raise Refused(f"{path}: not a file of ws-bench run --csv")
    for line in table:
        row = Row(line["workload"], line["point"], line["impl"],
                  int(line["workers"]), int(line["size"]))
        row = rows.setdefault(row.key(), row)
        row.peak_kib = int(line["peak_kib"])
        row.allocs = float(line["allocs"]) if line["allocs"] else None
        row.samples.append(Sample(
            int(line["wall_ns"]), int(line["cpu_ns"]), int(line["units"]),
            line["check"],
            {k: float(v) for k, v in pairs(line["values"])},
            {k: [float(x) for x in v.split(":") if x]
             for k, v in pairs(line["series"])}))
    return header, list(rows.values())


def recorded(path=os.path.join(BENCH, "recorded.csv")):
    """Figures of peers that are not packaged, by workload: lists of dicts."""
    found = {}
    if os.path.exists(path):
        with open(path, newline="", encoding="utf-8") as file:
            for line in csv.DictReader(
                    l for l in file if not l.startswith("#")):
                found.setdefault(line["workload"], []).append(line)
    return found

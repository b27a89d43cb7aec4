# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tables: of a run, of two runs, and for README.md."""

import statistics

from . import stats
from .workloads import Refused

SAME = 0.10  # two medians within this are the same


def figure(value):
    """Four digits or so."""
    if value is None:
        return "-"
    if value >= 1000:
        return f"{value:.0f}"
    return f"{value:.4g}" if value >= 0.001 else f"{value:.1e}"


def table(head, lines):
    """Columns as wide as they must be; the first two to the left."""
    widths = [max(len(line[i]) for line in [head] + lines)
              for i in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(w) if i < 1 else cell.rjust(w)
                  for i, (cell, w) in enumerate(zip(line, widths))).rstrip()
        for line in [head] + lines)


def point_rows(rows):
    """The rows by point, in their order."""
    points = {}
    for row in rows:
        points.setdefault(row.point, []).append(row)
    return points


def run_lines(workload, rows):
    """The lines of one point."""
    lines = []
    for row in rows:
        name = row.impl + ("*" if row.size != workload.size else "")
        if row.error or not row.samples:
            lines.append([name, str(row.workers), "failed"] + ["-"] * 7)
            continue
        figures = stats.merits(workload, row)
        base = stats.baseline(workload, rows, row)
        peer = stats.best_peer(workload, rows, row.workers)
        wall = sum(s.wall_ns for s in row.samples)
        cpu = sum(s.cpu_ns for s in row.samples)
        lines.append([
            name, str(row.workers),
            figure(statistics.median(figures)), figure(min(figures)),
            f"{100 * stats.spread(figures):.0f} %",
            "-" if base is None else
            stats.Ratio(figures, stats.merits(workload, base)).text(),
            "-" if peer is None else
            stats.Ratio(figures, stats.merits(workload, peer)).text(),
            f"{cpu / wall:.2f}" if wall else "-",
            f"{row.peak_kib / 1024:.1f}", figure(row.allocs)])
    return lines


def of_run(workload, rows, recorded=()):
    """What a user sees of one workload."""
    out = [f"== {workload.name}: {workload.title}",
           f"   {workload.unit_text()}, lower is better; size {workload.size}"]
    if any(row.size != workload.size for row in rows):
        sizes = sorted({row.size for row in rows if row.size != workload.size})
        out.append("   * at size " + ", ".join(map(str, sizes)))
    head = ["implementation", "workers", "median", "min", "spread",
            "/" + workload.baseline, "/best peer", "cpu/wall", "MiB",
            "allocs/unit"]
    for point, some in point_rows(rows).items():
        if point:
            out.append(f"-- {point}")
        out.append(table(head, run_lines(workload, some)))
        peers = [stats.best_peer(workload, some, n)
                 for n in sorted({r.workers for r in some})]
        named = [f"{p.impl} with {p.workers}" for p in peers if p is not None]
        if named:
            out.append("   best peer: " + ", ".join(named))
    for line in recorded:
        out.append(f"   recorded elsewhere: {line['impl']} {line['version']}, "
                   f"{line['workers']} workers: {line['value']} "
                   f"{line['unit']}")
    for row in rows:
        if row.error:
            out.append(f"!! {row.impl}, {row.workers} workers: {row.error}")
    return "\n".join(out) + "\n"


# ---- two runs --------------------------------------------------------------

def verdict(old, new):
    """What became of a row whose figures are given."""
    ratio = statistics.median(new) / statistics.median(old)
    if abs(ratio - 1) <= SAME:
        return ratio, "same"
    if max(stats.spread(old), stats.spread(new)) > stats.NOISY:
        return ratio, "noisy"
    return ratio, "faster" if ratio < 1 else "slower"


def of_two(workloads, old, new):
    """Row by row what changed from the old file to the new."""
    before = {row.key(): row for row in old}
    lines, counts = [], {}
    for row in new:
        was = before.get(row.key())
        workload = workloads.get(row.workload)
        if was is None or workload is None:
            continue
        a, b = stats.merits(workload, was), stats.merits(workload, row)
        if not a or not b or not statistics.median(a):
            continue
        ratio, what = verdict(a, b)
        counts[what] = counts.get(what, 0) + 1
        lines.append([" ".join(filter(None, row.key()[:2])), row.impl,
                      str(row.workers), figure(statistics.median(a)),
                      figure(statistics.median(b)), f"{ratio:.2f}", what])
    if not lines:
        raise Refused("the files have no row in common")
    text = table(["workload", "implementation", "workers", "old", "new",
                  "new/old", "verdict"], lines)
    return text + "\n" + ", ".join(f"{n} {what}"
                                   for what, n in sorted(counts.items()))


# ---- README ----------------------------------------------------------------

BEGIN = "<!-- begin: ws-bench table -->"
END = "<!-- end: ws-bench table -->"


def markdown(workloads, header, rows):
    """One line for each workload and point with a peer to compare with."""
    most = max(row.workers for row in rows)
    out = [f"Medians of {len(rows[0].samples)} interleaved samples on "
           f"{header['cpus']} CPUs ({header['processor']}), "
           f"{header['compiler']}, commit {header['commit']}, "
           f"{header['date'][:10]}. *x serial* and *x peer* are our time over "
           "theirs in the same turns; below 1 we are faster.", "",
           f"| workload | unit | ours, 1 worker | ours, {most} workers | "
           "x serial | best peer | x peer |",
           "|---|---|---:|---:|---:|---|---:|"]
    for name, workload in workloads.items():
        for point, some in point_rows(
                [r for r in rows if r.workload == name]).items():
            ours = {r.workers: r for r in some if r.impl == "wsteal"}
            peer = stats.best_peer(workload, some, most)
            if most not in ours or peer is None:
                continue
            row = ours[most]
            mine = stats.merits(workload, row)
            base = stats.baseline(workload, some, row)
            one = ours.get(1)
            theirs = stats.merits(workload, peer)
            out.append("| " + " | ".join([
                f"{name} {point}".strip(), workload.unit_text(),
                figure(statistics.median(stats.merits(workload, one)))
                if one else "-",
                figure(statistics.median(mine)),
                "-" if base is None or base.impl == "wsteal" else
                stats.Ratio(mine, stats.merits(workload, base)).text(),
                f"{peer.impl}, {figure(statistics.median(theirs))}",
                stats.Ratio(mine, theirs).text()]) + " |")
    return "\n".join(out)


def put_into(path, text):
    """Replaces what stands between the marks in a file."""
    with open(path, encoding="utf-8") as file:
        whole = file.read()
    if whole.count(BEGIN) != 1 or whole.count(END) != 1:
        raise Refused(f"{path}: needs one '{BEGIN}' and one '{END}'")
    before, rest = whole.split(BEGIN)
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + "\n" + text + "\n" + END
                   + rest.split(END)[1])


def of_workloads(workloads):
    """The table of bench/README.md."""
    out = ["| workload | what it shows |", "|---|---|"]
    for w in workloads.values():
        out.append(f"| `{w.name}`: {w.title} | {w.shows} |")
    return "\n".join(out)

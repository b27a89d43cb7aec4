# SPDX-License-Identifier: MIT OR Apache-2.0
"""Pictures through gnuplot: speed-up, curve over points, distribution, bars."""

import os
import shutil
import statistics
import subprocess

from . import stats

COLOURS = {"wsteal": "#c2410c", "serial": "#6b7280", "rayon": "#1d4ed8",
           "tbb": "#15803d", "libgomp": "#7e22ce", "libomp": "#be185d",
           "pthreadpool": "#a16207", "crossbeam": "#0e7490"}
OTHERS = ["#475569", "#0f766e", "#9f1239", "#4d7c0f", "#5b21b6"]


def colour(impl, number):
    """The same for an implementation in every picture."""
    return COLOURS.get(impl, OTHERS[number % len(OTHERS)])


def quoted(text):
    """For gnuplot, which would read an underscore as an index."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def head(path, title):
    """What all pictures share."""
    return [
        "set terminal svg size 860,480 dynamic enhanced background '#ffffff' "
        "font 'sans-serif,13'",
        f"set output {quoted(path)}",
        f"set title {quoted(title)} noenhanced",
        "set border 3 lc rgb '#9ca3af'",
        "set tics nomirror textcolor rgb '#374151'",
        "set grid ytics lc rgb '#e5e7eb' lt 1",
        "set key outside right top noenhanced",
    ]


def draw(lines):
    """Runs gnuplot on a script."""
    subprocess.run(["gnuplot"], input="\n".join(lines) + "\n", text=True,
                   check=True, capture_output=True)


def data(name, lines):
    """An inline table."""
    return [f"${name} << END"] + [" ".join(map(str, l)) for l in lines] + ["END"]


def titled(workload, rows):
    """The title, with the point that all rows are at."""
    points = {row.point for row in rows}
    point = points.pop() if len(points) == 1 else ""
    return f"{workload.name} {point}".strip() + f": {workload.title}"


def medians(workload, rows):
    """Rows with figures, and their medians."""
    for row in rows:
        figures = stats.merits(workload, row)
        if figures and not row.error:
            yield row, statistics.median(figures)


# ---- kinds -----------------------------------------------------------------

def speedup(path, workload, rows):
    """Bars: how many times faster than the baseline."""
    found = dict(medians(workload, rows))
    some = next(iter(found), None)
    base = stats.baseline(workload, rows, some) if some else None
    if base is None or base not in found:
        return False
    impls = [i for i in dict.fromkeys(r.impl for r in found)
             if i != base.impl]
    workers = sorted({r.workers for r in found if r.impl != base.impl})
    if not impls:
        return False
    script = head(path, titled(workload, rows))
    for n in workers:
        lines = []
        for impl in impls:
            value = [found[base] / m for r, m in found.items()
                     if r.impl == impl and r.workers == n and m]
            lines.append([quoted(impl), f"{value[0]:.4g}" if value else "NaN"])
        script += data(f"w{n}", lines)
    shades = ["#93c5fd", "#1d4ed8", "#1e3a8a", "#0f172a"]
    script += [
        f"set ylabel {quoted('times as fast as ' + base.impl)} noenhanced",
        "set yrange [0:*]", "set style data histogram",
        "set style histogram clustered gap 1",
        "set style fill solid noborder", "set boxwidth 0.9",
        "set xtics rotate by -30 noenhanced",
        "set arrow 1 from graph 0,first 1 to graph 1,first 1 nohead "
        "lc rgb '#6b7280' dt 2",
        "plot " + ", ".join(
            f"$w{n} using 2:xtic(1) title "
            + quoted(f"{n} worker{'s' if n > 1 else ''}")
            + f" lc rgb '{shades[k % 4]}'" for k, n in enumerate(workers))]
    draw(script)
    return True


def curve(path, workload, rows):
    """Lines over the points; a point that is no number is a level."""
    most = max(r.workers for r in rows)
    lines, levels, script = {}, {}, []
    for row, median in medians(workload, rows):
        if row.workers not in (most, 1) or (
                row.workers == 1 and row.impl != "serial" and most > 1):
            continue
        try:
            lines.setdefault(row.impl, []).append((float(row.point), median))
        except ValueError:
            levels[row.impl] = median
    if not lines:
        return False
    script = head(path, f"{workload.name}: {workload.title}, {most} workers")
    script += [f"set ylabel {quoted(workload.unit_text())} noenhanced",
               "set logscale x", "set logscale y",
               f"set xlabel {quoted('point (' + workload.name + ')')} "
               "noenhanced"]
    plots = []
    for k, (impl, values) in enumerate(lines.items()):
        script += data(f"d{k}", sorted(values))
        plots.append(f"$d{k} using 1:2 with linespoints pt 7 ps 0.5 lw 2 "
                     f"lc rgb '{colour(impl, k)}' title {quoted(impl)}")
        if impl in levels:
            plots.append(f"{levels[impl]:.6g} with lines lw 2 dt 2 lc rgb "
                         f"'{colour(impl, k)}' title "
                         + quoted(impl + ", default"))
    draw(script + ["plot " + ", ".join(plots)])
    return True


def distribution(path, workload, rows):
    """Which part of the samples lies below a value."""
    name = workload.series[0] if workload.series else ""
    script = head(path, titled(workload, rows))
    script += [f"set xlabel {quoted(name)} noenhanced", "set logscale x",
               "set ylabel 'part of the samples below'", "set yrange [0:1]"]
    plots = []
    for k, row in enumerate(rows):
        values = sorted(v for s in row.samples for v in s.series.get(name, []))
        if not values or row.error:
            continue
        script += data(f"d{k}", [(f"{v:.6g}", f"{(i + 1) / len(values):.6g}")
                                 for i, v in enumerate(values)])
        plots.append(f"$d{k} using 1:2 with steps lw 2 dt "
                     f"{1 if row.workers > 1 or row.impl == 'serial' else 3} "
                     f"lc rgb '{colour(row.impl, k)}' title "
                     + quoted(f"{row.impl}, {row.workers}"))
    if not plots:
        return False
    draw(script + ["plot " + ", ".join(plots)])
    return True


def bars(path, workload, rows):
    """The last sample's series of each implementation, value by value."""
    name = workload.series[0] if workload.series else ""
    most = max(r.workers for r in rows)
    script = head(path, titled(workload, rows))
    plots = []
    for k, row in enumerate(r for r in rows if r.workers == most):
        values = row.samples[-1].series.get(name) if row.samples else None
        if values and not row.error:
            script += data(f"d{k}", [(i, f"{v:.6g}")
                                     for i, v in enumerate(values)])
            plots.append(f"$d{k} using 2:xtic(1) title {quoted(row.impl)} "
                         f"lc rgb '{colour(row.impl, k)}'")
    if not plots:
        return False
    draw(script + [
        f"set ylabel {quoted(name)} noenhanced", "set xlabel 'worker'",
        "set yrange [0:*]", "set style data histogram",
        "set style histogram clustered gap 1",
        "set style fill solid noborder", "plot " + ", ".join(plots)])
    return True


KINDS = {"speedup": speedup, "curve": curve, "distribution": distribution,
         "bars": bars}
OVER_POINTS = ("curve",)


def overview(path, workloads, rows):
    """Our speed over the best peer's, for all workloads; no noisy ones."""
    most = max(row.workers for row in rows)
    lines = []
    for name, workload in workloads.items():
        points = {}
        for row in rows:
            if row.workload == name:
                points.setdefault(row.point, []).append(row)
        for point, some in points.items():
            peer = stats.best_peer(workload, some, most)
            ours = [r for r in some if r.impl == "wsteal"
                    and r.workers == most and not r.error]
            if peer is None or not ours:
                continue
            ratio = stats.Ratio(stats.merits(workload, peer),
                                stats.merits(workload, ours[0]))
            if ratio.known and not ratio.noisy:
                lines.append([quoted(f"{name} {point}".strip()),
                              f"{ratio.value:.4g}"])
    if not lines:
        return False
    draw(head(path, f"How many times as fast as the best peer, {most} workers")
         + data("d", lines) + [
             "set yrange [*<0.05:*]", "set logscale y 2", "unset key",
             "set style fill solid noborder", "set boxwidth 0.7",
             "set xtics rotate by -50 noenhanced font ',10'",
             "set bmargin 8", "set rmargin 9",
             "plot 1 with lines lc rgb '#6b7280' dt 2, $d using 0:2:xtic(1) "
             "with boxes lc rgb '#c2410c'"])
    return True


def all_of(directory, workloads, rows):
    """Writes the pictures; the names of the files, or why there are none."""
    if shutil.which("gnuplot") is None:
        return None
    os.makedirs(directory, exist_ok=True)
    written = []
    for name, workload in workloads.items():
        mine = [r for r in rows if r.workload == name and r.samples]
        points = {}
        for row in mine:
            key = "" if workload.picture in OVER_POINTS else row.point
            points.setdefault(key, []).append(row)
        for point, some in points.items():
            file = name + (f"-{point}" if point else "") + ".svg"
            if KINDS[workload.picture](os.path.join(directory, file), workload,
                                       some):
                written.append(file)
    if rows and overview(os.path.join(directory, "overview.svg"), workloads,
                         rows):
        written.append("overview.svg")
    return written

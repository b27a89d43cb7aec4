# SPDX-License-Identifier: MIT OR Apache-2.0
"""What ws-bench does with programs that behave, and with those that do not.

The programs are scripts that speak the protocol of support/runner.h; nothing
depends on how long anything takes.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import unittest

from . import measure, report, results, stats, workloads
from .program import Failed, Program, Sample

# argv: what to do, a log file, then --workers N --size N.
SCRIPT = r'''
import os, sys, time
how, log = sys.argv[1:3]
print("ready", flush=True)
for line in sys.stdin:
    if line.strip() != "go":
        break
    with open(log, "a") as file:
        file.write(how + "\n")
    if how == "hangs":
        time.sleep(1000)
    if how == "crashes":
        sys.stderr.write("out of cheese\n")
        sys.exit(3)
    if how == "babbles":
        print("nonsense", flush=True)
    check = "bad" if how == "wrong" else "cafe"
    print("value p50 7.5")
    print("series lat 1 2 3")
    print("sample 1000 900 10 " + check, flush=True)
print("end 2048 -1", flush=True)
'''


def workload(programs, **more):
    """One that has these programs."""
    options = {"title": "t", "shows": "s", "unit": "job", "size": "5",
               "tiny": "1", **more}

    class Section(dict):
        """As configparser gives it."""
        def getint(self, name, otherwise=0):
            """A number."""
            return int(self.get(name, otherwise))

    made = workloads.Workload("w", Section(options))
    made.programs = programs
    return made


class Turns(unittest.TestCase):
    """Processes."""

    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        self.script = os.path.join(self.dir.name, "program.py")
        self.log = os.path.join(self.dir.name, "log")
        with open(self.script, "w", encoding="utf-8") as file:
            file.write(SCRIPT)

    def command(self, how):
        """A program that behaves so."""
        return [sys.executable, self.script, how, self.log]

    def rows(self, hows, timeout=60, samples=2):
        """All of them in turns."""
        made = workload({how: self.command(how) for how in hows})
        options = argparse.Namespace(workers=[1], impl=[], size=None)
        group = next(measure.plan(made, options))
        measure.take_turns(made, group, samples, measure.Progress(0), timeout)
        return {row.impl: row for row in group}

    def test_samples_are_taken_in_turns(self):
        """A B C, A B C, A B C; the first round does not count."""
        rows = self.rows(["a", "b", "c"])
        with open(self.log, encoding="utf-8") as file:
            self.assertEqual(file.read().split(), ["a", "b", "c"] * 3)
        for row in rows.values():
            self.assertEqual(row.error, "")
            self.assertEqual(len(row.samples), 2)
            self.assertEqual(row.peak_kib, 2048)
            self.assertEqual(row.samples[0].values, {"p50": 7.5})
            self.assertEqual(row.samples[0].series, {"lat": [1, 2, 3]})

    def test_a_program_is_stopped_between_its_turns(self):
        """The state of the process says so."""
        program = Program(self.command("a"), 1, 1)
        self.addCleanup(program.kill)
        program.ready(60)
        program.sample(60)
        _, status = os.waitpid(program.process.pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status))
        self.assertEqual(program.end(60), (2048, -1))

    def test_a_wrong_result_is_found(self):
        """Two against one."""
        rows = self.rows(["a", "wrong", "b"])
        self.assertIn("wrong result bad", rows["wrong"].error)
        self.assertEqual(rows["a"].error + rows["b"].error, "")

    def test_others_go_on_after_a_crash(self):
        """What it said is kept."""
        rows = self.rows(["crashes", "a", "babbles"])
        self.assertIn("status 3", rows["crashes"].error)
        self.assertIn("out of cheese", rows["crashes"].error)
        self.assertIn("said: nonsense", rows["babbles"].error)
        self.assertEqual(len(rows["a"].samples), 2)

    def test_a_program_may_die_between_its_turns(self):
        """It is reported like any other failure."""
        program = Program(self.command("a"), 1, 1)
        program.ready(60)
        program.process.kill()
        program.process.wait()
        with self.assertRaises(Failed):
            program.sample(60)

    def test_a_hang_is_ended(self):
        """By the limit; the process is gone."""
        program = Program(self.command("hangs"), 1, 1)
        program.ready(60)
        with self.assertRaises(Failed):
            program.sample(0.2)
        self.assertIsNotNone(program.process.poll())

    def test_a_missing_program_is_reported(self):
        """And does not stop the run."""
        made = workload({"gone": ["/no/such/program"],
                         "a": self.command("a")})
        options = argparse.Namespace(workers=[1], impl=[], size=None)
        group = next(measure.plan(made, options))
        measure.take_turns(made, group, 1, measure.Progress(0), 60)
        self.assertIn("/no/such/program", group[0].error)
        self.assertEqual(len(group[1].samples), 1)

    def test_the_command_line_refuses_nonsense(self):
        """Status 2 and a message."""
        tool = os.path.join(workloads.BENCH, "ws-bench")
        for words in (["--build", self.dir.name, "list"], ["run", "--size", "0"],
                      ["compare", "/no/file", "/no/file"], ["dance"]):
            done = subprocess.run([sys.executable, tool, *words], text=True,
                                  capture_output=True, check=False)
            self.assertEqual(done.returncode, 2, words)
            self.assertNotEqual(done.stderr, "")


def row(impl, walls, workers=1, workload_name="w"):
    """With samples of these times, ten units each."""
    made = measure.Row(workload_name, "", impl, workers, 5)
    made.samples = [Sample(int(wall), int(wall), 10, "cafe") for wall in walls]
    return made


class Figures(unittest.TestCase):
    """What is made of them."""

    def test_a_ratio_of_unsteady_turns_is_not_quoted(self):
        """The pairs decide, not the medians."""
        steady = [1000, 1010, 990, 1000, 1005]
        self.assertEqual(stats.Ratio([2 * s for s in steady], steady).text(),
                         "2.00")
        self.assertEqual(
            stats.Ratio([1000, 3000, 1000, 3000, 2000], steady).text(), "noisy")
        self.assertEqual(stats.Ratio([], []).text(), "-")

    def test_drift_of_the_machine_does_not_matter(self):
        """Both of a pair see the same machine."""
        drift = [1000, 1500, 2000, 2500, 3000]
        self.assertEqual(stats.Ratio([3 * d for d in drift], drift).text(),
                         "3.00")

    def test_the_best_peer_is_neither_ours_nor_serial(self):
        """Whatever is faster."""
        rows = [row("serial", [10]), row("wsteal-x", [20]), row("tbb", [90]),
                row("rayon", [80])]
        best = stats.best_peer(workload({}), rows, 1)
        self.assertEqual(best.impl, "rayon")

    def test_two_runs_are_compared(self):
        """Within ten percent they are the same."""
        old = [row("a", [1000] * 5), row("b", [1000] * 5),
               row("c", [1000] * 5), row("d", [1000, 400, 1600, 900, 1800])]
        new = [row("a", [1050] * 5), row("b", [2000] * 5),
               row("c", [500] * 5), row("d", [3000, 900, 5000, 2000, 4000])]
        text = report.of_two({"w": workload({})}, old, new)
        for impl, what in zip("abcd", ("same", "slower", "faster", "noisy")):
            line = [l for l in text.splitlines() if l.split()[1:2] == [impl]]
            self.assertTrue(line[0].endswith(what), line)
        with self.assertRaises(workloads.Refused):
            report.of_two({"w": workload({})}, old, [row("e", [1])])

    def test_a_file_gives_back_what_was_written(self):
        """All but long series, of which quantiles are kept."""
        one = row("a", [1000, 2000])
        one.peak_kib, one.allocs = 123, 0.5
        one.samples[0].values = {"p50": 1.5}
        one.samples[1].series = {"lat": [float(i) for i in range(1000)]}
        with tempfile.TemporaryDirectory() as where:
            path = os.path.join(where, "x.csv")
            results.write(path, {"cpus": "2"}, [one])
            header, rows = results.read(path)
        self.assertEqual(header, {"cpus": "2"})
        self.assertEqual(rows[0].key(), one.key())
        self.assertEqual([s.wall_ns for s in rows[0].samples], [1000, 2000])
        self.assertEqual(rows[0].allocs, 0.5)
        self.assertEqual(rows[0].samples[0].values, {"p50": 1.5})
        kept = rows[0].samples[1].series["lat"]
        self.assertEqual(len(kept), results.SERIES_KEPT)
        self.assertLess(abs(kept[99] - 500), 10)

    def test_readme_lists_every_workload(self):
        """The table is that of `ws-bench list --markdown`."""
        with open(os.path.join(workloads.BENCH, "README.md"),
                  encoding="utf-8") as file:
            self.assertIn(report.of_workloads(workloads.load_sources()),
                          file.read())


if __name__ == "__main__":
    unittest.main()

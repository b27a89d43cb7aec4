# SPDX-License-Identifier: MIT OR Apache-2.0
"""A program of support/runner.h as a process that gives samples on request.

Between two turns the process is stopped, so that idle workers which spin do
not disturb the others.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import time


class Failed(Exception):
    """The program crashed, hung or said something else than agreed."""


class Sample:
    """What one sample took."""

    def __init__(self, wall_ns, cpu_ns, units, check, values=None, series=None):
        self.wall_ns = wall_ns
        self.cpu_ns = cpu_ns
        self.units = units
        self.check = check
        self.values = values or {}
        self.series = series or {}


class Program:
    """One running process."""

    def __init__(self, command, workers, size, point="", preload=""):
        words = list(command) + ["--workers", str(workers), "--size", str(size)]
        if point:
            words += ["--point", point]
        self.words = words
        environment = dict(os.environ)
        if preload:
            environment["LD_PRELOAD"] = preload
        self.errors = tempfile.TemporaryFile()
        self.pending = b""
        try:
            self.process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=self.errors, start_new_session=True, env=environment)
        except OSError as error:
            self.errors.close()
            raise Failed(f"{words[0]}: {error.strerror}") from error
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)

    # ---- lines

    def _fail(self, what):
        self._finish()
        self.errors.seek(0)
        said = self.errors.read().decode(errors="replace").strip()
        self.kill()
        raise Failed(f"{' '.join(self.words)}: {what}"
                     + (f"\n{said}" if said else ""))

    def _line(self, deadline):
        while b"\n" not in self.pending:
            left = deadline - time.monotonic()
            if left <= 0 or not self.selector.select(left):
                self._fail("gave no answer in time")
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                code = self.process.wait()
                self._fail(f"ended with status {code}")
            self.pending += data
        line, self.pending = self.pending.split(b"\n", 1)
        return line.decode().split()

    def _say(self, text):
        try:
            self.process.stdin.write(text.encode())
            self.process.stdin.flush()
        except OSError:
            self._fail("does not listen")

    # ---- turns

    def ready(self, timeout):
        """Waits until it is set up."""
        if self._line(time.monotonic() + timeout) != ["ready"]:
            self._fail("did not say that it is ready")

    def sample(self, timeout):
        """One turn."""
        deadline = time.monotonic() + timeout
        values, series = {}, {}
        self.resume()
        self._say("go\n")
        while True:
            words = self._line(deadline)
            try:
                if words[0] == "value":
                    values[words[1]] = float(words[2])
                elif words[0] == "series":
                    series[words[1]] = [float(word) for word in words[2:]]
                elif words[0] == "sample":
                    break
                else:
                    raise ValueError
            except (ValueError, IndexError):
                self._fail("said: " + " ".join(words))
        self.pause()
        wall, cpu, units, check = words[1:5]
        return Sample(int(wall), int(cpu), int(units), check, values, series)

    def end(self, timeout):
        """Lets it end: peak size in KiB, allocations or -1."""
        self.resume()
        self._say("end\n")
        words = self._line(time.monotonic() + timeout)
        if words[0] != "end":
            self._fail("did not end")
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._fail("did not exit")
        if code != 0:
            self._fail(f"ended with status {code}")
        self.kill()
        return int(words[1]), int(words[2])

    # ---- signals

    def _signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def pause(self):
        """No thread of it runs."""
        self._signal(signal.SIGSTOP)

    def resume(self):
        """And on."""
        self._signal(signal.SIGCONT)

    def _finish(self):
        if self.process.poll() is None:
            self._signal(signal.SIGKILL)
            self.process.wait()

    def kill(self):
        """Whatever it does; may be called again."""
        self._finish()
        self.errors.close()
        # What it was told last may still be on its way to nobody.
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process.stdout.close()
        self.selector.close()

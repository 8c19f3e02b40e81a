"""A Dask scheduler and workers as separate processes, for tests and for `make bench WHAT=scaling`."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path


class Cluster:
    """A scheduler on a free port of this machine, and the workers that were started for it."""

    def __init__(self, folder: Path, *paths: Path) -> None:
        """Starts the scheduler with its file in `folder`; `wait` waits until it answers.

        `paths` are folders whose modules workers can import.
        """
        self._folder, self._paths = folder, paths
        self.file = folder / "scheduler.json"
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"]
        self._scheduler = self._start("dask_scheduler", *options)
        self._workers: list[subprocess.Popen[bytes]] = []

    @property
    def address(self) -> str:
        """Returns the value for `--dask`."""
        return str(self.file)

    def add(self, nanny: bool = False) -> "subprocess.Popen[bytes]":
        """Starts a worker with one thread and returns its process, which need not have joined yet.

        With `nanny`, a nanny restarts it when it ends; the process is then the nanny's.
        """
        kind = "--nanny" if nanny else "--no-nanny"
        options = [kind, "--nthreads", "1", "--no-dashboard", "--memory-limit", "0"]
        worker = self._start("dask_worker", *options)
        self._workers.append(worker)
        return worker

    def freeze(self) -> None:
        """Stops the scheduler's process, as if the network were cut."""
        self._scheduler.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Continues the scheduler's process."""
        self._scheduler.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """Ends all workers and the scheduler; kills those that do not end within 5 s.

        A frozen scheduler is killed.
        """
        for processes in (self._workers, [self._scheduler]):
            for process in processes:
                if process.poll() is None:
                    process.send_signal(signal.SIGTERM)
            for process in processes:
                try:
                    process.wait(timeout=5)
                except subprocess.TimeoutExpired:
                    process.kill()

    def wait(self, seconds: float = 20.0) -> None:
        """Waits until the scheduler has written its address; raises `TimeoutError` after `seconds`."""
        end = time.monotonic() + seconds
        while not self.file.exists() and time.monotonic() < end:
            time.sleep(0.05)
        if not self.file.exists():
            raise TimeoutError("the scheduler did not start")

    def _start(self, program: str, *options: str) -> "subprocess.Popen[bytes]":
        """Starts a program of `distributed` in the cluster's folder, without its output.

        Returns its process, which can import the modules of this one and of `paths`.
        """
        command = [sys.executable, "-m", f"distributed.cli.{program}", "--scheduler-file", str(self.file)]
        paths = [*map(str, self._paths), *filter(None, sys.path)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        return subprocess.Popen(
            [*command, *options],
            env=environment,
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

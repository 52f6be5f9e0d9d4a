"""The servers of a field bench: where they are, how they are started and stopped; and the binary
that is tried on them."""

import csv
import json
import os
import random
import re
import shlex
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# How the known faults were measured: a handler that is slow enough to be met at work, and one that
# keeps a key for so many seconds, where its library can.
WORK_MS = "400"
TTL_S = "2"
OPERATION = "create-payment"
TENANTS = {"A": "tenant-a", "B": "tenant-b"}

START_WITHIN = 60.0
STOP_WITHIN = 10.0


class Trouble(Exception):
    """What was asked for could not be done."""


class Bench:
    """The folder with the servers, which are listed in a table of it."""

    def __init__(self, folder, table="targets.tsv"):
        self.folder = Path(folder).resolve()
        try:
            with open(self.folder / table, newline="") as file:
                rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
            self.targets = {row["name"]: row for row in rows}
            self.known = json.loads((self.folder / "faults.json").read_text())
            self.faults = self.known["faults"]
        except (OSError, ValueError, KeyError) as error:
            raise Trouble(f"{folder} is no bench: {error!r}") from error
        self.services_were_up = self.services("status").returncode == 0

    def chosen(self, names):
        """The servers of these names; all, where none is named."""
        unknown = [name for name in names if name not in self.targets]
        if unknown:
            raise Trouble(f"the bench has no {', '.join(unknown)}")
        return names or list(self.targets)

    def services(self, what):
        script = self.folder / "services.sh"
        if not script.exists():
            return subprocess.CompletedProcess([], 0)
        return subprocess.run(
            ["bash", str(script), what], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )

    def close(self):
        if not self.services_were_up:
            self.services("stop")

    def script(self, target):
        row = self.targets[target]
        named = re.search(r"apps/[^/\s]+/run\.sh", " ".join(row.values()))
        return self.folder / (named.group() if named else f"apps/{target}/run.sh")

    def can_expire(self, target):
        """Whether the server's library has a setting for how long it keeps keys."""
        files = (file for file in self.script(target).parent.rglob("*") if file.suffix in (".py", ".js", ".rs", ".sh"))
        return any("TTL" in file.read_text(errors="replace") for file in files)

    def needs_login(self, target):
        return "POST /login" in " ".join(self.targets[target].values())


# Ends a server's whole group without notice, or starts it again with what it has on disk.
HOOK = """#!/bin/bash
cd "$(dirname "$0")" || exit 1
case "$1" in
  kill) kill -s KILL -- "-$(cat group)" ;;
  start)
    setsid bash {script} {port} >>log 2>&1 </dev/null &
    echo $! >group
    ;;
esac
"""


def free_port(inside):
    """A port with so many free ones behind it, none of which the system deals out by itself."""
    while True:
        port = random.randrange(20000, 32000)
        try:
            for own in range(port, port + 1 + inside):
                with socket.socket() as free:
                    free.bind(("127.0.0.1", own))
            return port
        except OSError:
            continue


class Server:
    """One server, in a process group of its own, with a folder of its own."""

    def __init__(self, bench, target, expires=False, work_ms=WORK_MS, here=HERE, inside=0):
        self.target = target
        self.file = here / ("expiry.yaml" if expires else "target.yaml")
        self.folder = tempfile.TemporaryDirectory(prefix=f"{target}-")
        self.port = free_port(inside)
        data = Path(self.folder.name) / "data"
        environment = dict(os.environ, FRESH="1", WORK_MS=work_ms, DATA_DIR=str(data))
        environment.pop("TTL_S", None)
        if expires:
            environment["TTL_S"] = TTL_S
        self.again = dict(environment, FRESH="0")
        script = shlex.quote(str(bench.script(target)))
        self.hook = Path(self.folder.name) / "hook"
        self.hook.write_text(HOOK.format(script=script, port=self.port))
        self.log = open(Path(self.folder.name) / "log", "wb")
        self.process = subprocess.Popen(
            ["bash", str(bench.script(target)), str(self.port)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.group_file = Path(self.folder.name) / "group"
        self.group_file.write_text(str(self.process.pid))

    def __enter__(self):
        try:
            self.wait()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def request(self, method, path, tenant):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            method=method,
            headers={"Authorization": f"Bearer {tenant}"},
        )
        return urllib.request.urlopen(request, timeout=5)

    def wait(self):
        until = time.monotonic() + START_WITHIN
        while time.monotonic() < until:
            if self.process.poll() is not None:
                break
            try:
                with self.request("GET", "/payments?reference=none", TENANTS["A"]) as answer:
                    if answer.status == 200:
                        return
            except OSError:
                time.sleep(0.05)
        log = (Path(self.folder.name) / "log").read_text(errors="replace")[-1000:]
        raise Trouble(f"{self.target} did not start:\n{log}")

    def login(self):
        """A session's cookie for each tenant, as the target file wants them."""
        cookies = {}
        for letter, tenant in TENANTS.items():
            try:
                with self.request("POST", "/login", tenant) as answer:
                    cookies[f"SESSION_{letter}"] = answer.headers["Set-Cookie"].split(";")[0]
            except (OSError, AttributeError) as error:
                raise Trouble(f"{self.target}: no session for {tenant}: {error}") from error
        return cookies

    def signal(self, what):
        """Whether there is anybody left to hear it. A hook may have started another process."""
        self.process.poll()
        try:
            os.killpg(int(self.group_file.read_text()), what)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def stop(self):
        self.signal(signal.SIGTERM)
        until = time.monotonic() + STOP_WITHIN
        while self.signal(0) and time.monotonic() < until:
            time.sleep(0.05)
        self.signal(signal.SIGKILL)
        self.process.wait()
        self.log.close()
        self.folder.cleanup()


def binary():
    named = os.environ.get("IDEMSPEC")
    if named:
        return named
    built = [ROOT / "target" / kind / "idemspec" for kind in ("release", "debug")]
    built = [path for path in built if path.exists()]
    if not built:
        subprocess.run(["cargo", "build", "--release"], cwd=ROOT, check=True)
        return str(ROOT / "target/release/idemspec")
    return str(max(built, key=lambda path: path.stat().st_mtime))


def run(idemspec, server, secrets, arguments, within=1200.0):
    """Runs idemspec on the server's one operation; returns the exit code and what it said.

    1 and 3 are verdicts; after 4 there may still be a report that says why.
    """
    # With a session for each tenant, where the server wants them.
    file = HERE / "session.yaml" if secrets else server.file
    command = [idemspec, "run", str(file), "--operation", OPERATION, "--quiet", *arguments]
    done = subprocess.run(
        command,
        env=dict(server.again, PORT=str(server.port), HOOK=str(server.hook), **secrets),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=within,
        check=False,
    )
    if done.returncode not in (0, 1, 3, 4):
        raise Trouble(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr or done.stdout}")
    return done.returncode, done.stderr or done.stdout

# SPDX-License-Identifier: GPL-2.0
"""ipclat's two containers: what is made for them, and that it is removed again."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import pytest

from lab.paths import Paths
from subjects.ipc.experiment import CONTAINERS
from tests.host.checkouts import script
from tests.host.programs import Done, assert_refused, children, run, wait_until

FAKE_ENGINE = Path(__file__).with_name("fake_engine.sh")
ORDER = ("crun", "runc", "youki", "podman", "docker")
# Spinning needs two CPUs.
KINDS = CONTAINERS[: len(os.sched_getaffinity(0))]
BOTH = ("-m", ",".join(KINDS), "-k", "50", "-n", "1", "-w", "5")

Run = Callable[..., Done]

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")

# An OCI runtime whose containers sleep without end.
SLEEPER = """#!/bin/sh
echo "$@" >>{state}/log
for id; do :; done
case "$*" in
*" run "*) echo $$ >{state}/$id.pid; exec sleep 600;;
*" delete "*) kill "$(cat {state}/$id.pid)";;
esac
"""


def told(runtime: Path) -> list[list[str]]:
    """The words of each call of a runtime, from the log beside it."""
    log = runtime.with_name("log")
    return [line.split() for line in log.read_text().splitlines()] if log.exists() else []


def bundles(runtime: Path) -> Path:
    """The directory that was made for the containers."""
    words = next(words for words in told(runtime) if "--bundle" in words)
    return Path(words[words.index("--bundle") + 1]).parent


@pytest.fixture
def sleeper(tmp_path: Path) -> Path:
    return script(tmp_path / "runc", SLEEPER.format(state=tmp_path))


@pytest.fixture
def ipclat(lab_paths: Paths) -> Run:
    return partial(run, lab_paths.bin / "ipclat")


def devices(pid: str) -> str:
    path = Path("/proc") / pid / "net/dev"
    return path.read_text() if path.exists() else ""


def status_after(ready: Callable[[int], bool], number: signal.Signals, *argv: str | Path) -> int:
    """That of a program which gets a signal once it is ready, as at a terminal.

    What runs the tests in the background may ignore some.
    """
    with subprocess.Popen(["env", "--default-signal=HUP,INT,QUIT,TERM", *argv]) as process:
        try:
            wait_until(lambda: ready(process.pid))
            process.send_signal(number)
            return process.wait(timeout=60)
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_leaves_nothing(
    lab_paths: Paths, sleeper: Path, number: signal.Signals
) -> None:
    seen: list[tuple[Path, list[str]]] = []

    def ready(pid: int) -> bool:
        if len(list(sleeper.parent.glob("*.pid"))) < 2:
            return False
        seen.append((bundles(sleeper), children(pid)))
        assert seen[0][0].is_dir() and sum("ipclat" in devices(side) for side in seen[0][1]) == 2
        return True

    words = ("-m", "zmq-tcp-containers", "--runtime", sleeper)
    assert status_after(ready, number, lab_paths.bin / "ipclat", *words) == -number
    ((made, sides),) = seen
    assert not made.exists()
    assert not any(Path("/proc", pid).exists() for pid in sides)
    removed = {words[-1] for words in told(sleeper) if "delete" in words}
    assert removed == {words[-1] for words in told(sleeper) if "run" in words} != set()


def test_an_interrupt_that_is_ignored_stays_ignored(lab_paths: Paths) -> None:
    """nohup ipclat &"""
    words = ["-m", "pipe", "-k", "100000000", "-n", "1", "--seconds", "1"]
    argv = ["nohup", str(lab_paths.bin / "ipclat"), *words]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: Path(f"/proc/{process.pid}/comm").read_text() == "ipclat\n")
        process.send_signal(signal.SIGHUP)
        assert process.wait(timeout=60) == 0


def test_a_runtime_that_fails_leaves_nothing(ipclat: Run, tmp_path: Path) -> None:
    path = script(tmp_path / "runc", f'#!/bin/sh\necho "$*" >>{tmp_path}/log\nexit 1\n')
    done = ipclat("-m", "zmq-tcp-containers", "--runtime", path)
    assert done.returncode == 1
    assert done.stderr == "ipclat: zmq-tcp-containers: a container failed\n"
    assert not bundles(path).exists()


def listed(paths: Paths, path: str) -> str:
    lines = run(paths.bin / "ipclat", "--list", env={"PATH": path}).stdout.splitlines()
    (line,) = [line for line in lines if line.startswith("zmq-tcp-containers")]
    return line


def with_ip(where: Path, names: Iterable[str], text: str = "#!/bin/sh\n") -> str:
    where.mkdir()
    found = shutil.which("ip")
    assert found
    (where / "ip").symlink_to(found)
    for name in names:
        script(where / name, text)
    return str(where)


def test_runtimes_are_looked_for_in_their_order(lab_paths: Paths, tmp_path: Path) -> None:
    for number, name in enumerate(ORDER):
        where = with_ip(tmp_path / name, ORDER[number:])
        assert listed(lab_paths, where).endswith(f"(by {where}/{name})")


def test_one_that_does_not_work_is_not_there(lab_paths: Paths, tmp_path: Path) -> None:
    """docker without a daemon, podman that cannot use its storage."""
    where = with_ip(tmp_path / "bin", ("podman", "docker"), "#!/bin/sh\nexit 1\n")
    said = "not supported here: no crun, runc, youki, podman, or docker with a daemon here"
    assert said in listed(lab_paths, where)
    script(tmp_path / "bin/docker", "#!/bin/sh\n")
    assert listed(lab_paths, where).endswith(f"(by {where}/docker)")


@pytest.mark.parametrize(
    ("name", "said"),
    [("docker", "docker's daemon does not answer"), ("podman", "podman does not work here")],
)
def test_one_that_was_asked_for_has_to_work(
    ipclat: Run, tmp_path: Path, name: str, said: str
) -> None:
    path = script(tmp_path / name, "#!/bin/sh\nexit 1\n")
    done = ipclat(*BOTH, "--runtime", path)
    assert_refused(done, f"ipclat: --runtime: bad value '{path}': {said}")


# podman and docker


@pytest.fixture(params=["podman", "docker"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """One of the two, without its storage and its daemon; its state is beside it."""
    text = f'#!/bin/sh\nexec {FAKE_ENGINE} {tmp_path} "$@"\n'
    return script(tmp_path / str(request.param), text)


def things_left(engine: Path) -> list[str]:
    """Containers, images, and the directory that they were shown."""
    words = {word for call in told(engine) for word in call}
    shared = {word.split(":")[0] for word in words if word.endswith(":/share")}
    there = [
        path.name for kind in ("containers", "images") for path in engine.parent.glob(f"{kind}/*")
    ]
    return [*there, *(path for path in shared if Path(path).parent.exists())]


def measured(done: Done, runtime: str) -> None:
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads(done.stdout)["results"]
    assert [(row["mechanism"], row["samples"]) for row in rows] == [(name, 50) for name in KINDS]
    assert {Path(row["runtime"]).name for row in rows} == {runtime}


def test_an_engine(ipclat: Run, engine: Path) -> None:
    measured(ipclat(*BOTH, "--json", "--runtime", engine), engine.name)
    runs = [words for words in told(engine) if words[0] == "run"]
    assert len({words[words.index("--name") + 1] for words in runs}) == 2
    assert len([words for words in told(engine) if words[0] in ("info", "version")]) == 1
    for words in runs:
        assert {"--cap-drop", "no-new-privileges", "--read-only", "--rm"} <= set(words)
    assert not things_left(engine)


@pytest.mark.parametrize(
    ("engine", "verb"),
    [("podman", "run"), ("docker", "run"), ("docker", "import"), ("docker", "inspect")],
    indirect=["engine"],
)
def test_an_engine_that_fails_leaves_nothing(ipclat: Run, engine: Path, verb: str) -> None:
    real = engine.rename(engine.parent / "real")
    script(engine, f'#!/bin/sh\n[ "$1" != {verb} ] && exec {real} "$@"\nexit 1\n')
    done = ipclat(*BOTH, "--runtime", engine)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert not things_left(engine)


def test_an_interrupted_engine_leaves_nothing(lab_paths: Paths, engine: Path) -> None:
    words = ("-m", "zmq-tcp-containers", "-k", "100000000", "--runtime", engine)
    status = status_after(
        lambda _: len(things_left(engine)) == 3, signal.SIGINT, lab_paths.bin / "ipclat", *words
    )
    assert status == -signal.SIGINT
    assert not things_left(engine)


# What lists all that an engine has: nothing may be left behind.
LISTS = {
    "podman": ["podman ps --all --format {{.Names}}"],
    "docker": ["docker ps --all --format {{.Names}}", "docker images --format {{.Repository}}"],
}
PROBES = {"docker": "docker version", "podman": "podman info"}


@pytest.mark.parametrize("name", ORDER)
def test_a_real_runtime(ipclat: Run, name: str) -> None:
    probe = PROBES.get(name, f"{name} --version").split()
    if not shutil.which(name) or run(*probe).returncode:
        pytest.skip(f"this host has no {name} that works")

    def there() -> list[set[str]]:
        return [set(run(*line.split()).stdout.split()) for line in LISTS.get(name, [])]

    before = there()
    measured(ipclat(*BOTH, "--json", "--runtime", name), name)
    assert there() == before

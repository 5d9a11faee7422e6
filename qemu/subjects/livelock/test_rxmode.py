# SPDX-License-Identifier: GPL-2.0
"""rxmode on the host, with files in place of the kernel's: what it refuses, and what it says."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.host import native
from tests.host.programs import Done, run

SOURCES = (
    *(f"userland/livelock/{name}.c" for name in ("rxmode", "nic")),
    *native.lib("args", "clock", "files", "json", "opts", "procfs"),
)
GOVERNOR = {
    **{"mode": "off", "limit": "50", "high": "30", "low": "20"},
    **{"quota": "64", "round_us": "200", "hold_us": "20000"},
}
DRIVER = {"mode": "napi", "quota": "32", "poll_us": "1000"}
STATS = "switches 7\ndropped 0\nsockets 1\ninterrupts 90\nasked 1\nwanted 2\nlimit 3\nhot 4\n"
IFF_UP = 1


@dataclass
class Net:
    """A folder "net" as /sys/class/net, and the program that takes it for that."""

    program: Path
    folder: Path

    def add(self, name: str, napi: str = "8193 off interrupts\n", up: bool = True) -> Path:
        device = self.folder / name
        (device / "governor").mkdir(parents=True)
        (device / "ifindex").write_text("2\n")
        (device / "flags").write_text(f"{0x1002 | (IFF_UP if up else 0):#x}\n")
        for attribute, value in (GOVERNOR | {"stats": STATS}).items():
            (device / "governor" / attribute).write_text(f"{value}\n")
        (device / "governor/napi").write_text(napi)
        return device

    def run(self, *words: str) -> Done:
        return run(self.program, *words, cwd=self.folder.parent)

    def settings(self, name: str) -> dict[str, str]:
        governor = self.folder / name / "governor"
        return {attribute: (governor / attribute).read_text().strip() for attribute in GOVERNOR}


@pytest.fixture(scope="module")
def rxmode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return native.build(tmp_path_factory.mktemp("rxmode"), *SOURCES, options=('-DNET_DIR="net"',))


@pytest.fixture
def net(rxmode: Path, tmp_path: Path) -> Net:
    folder = tmp_path / "net"
    folder.mkdir()
    return Net(rxmode, folder)


def test_what_is_refused_is_named_with_what_is_allowed(net: Net) -> None:
    """And nothing is changed, whatever stands before it."""
    net.add("eth0")
    modes, names = "off, poll, auto", "mode, limit, high, low, quota, round_us, hold_us"
    for words, said in {
        ("eth0", "mode", "fast"): f"mode: bad value 'fast': allowed {modes}",
        ("eth0", "mode", ""): f"mode: bad value '': allowed {modes}",
        ("eth0", "mode", "poll", "limit", "96"): "limit: bad value '96': allowed 1..95",
        ("eth0", "limit", "40", "low", "26"): "low: bad value '26': allowed 1..25",
        ("eth0", "limit", "40", "high", "25"): "high: bad value '25': allowed 26..100",
        ("eth0", "quota", "0"): "quota: bad value '0': allowed 1..4096",
        ("eth0", "round_us", "9.5"): "round_us: bad value '9.5': allowed 50..10000",
        ("--", "eth0", "hold_us", "-1"): "hold_us: bad value '-1': allowed 20000..1000000",
        ("eth0", "speed", "9"): f"name: bad value 'speed': allowed {names}",
        ("eth0", "mode", "poll", "mode", "off"): "name 'mode': given twice",
        ("eth0", "limit", "40", "mode"): "name 'mode': a value is missing",
        ("eth9",): "device 'eth9': no such network device",
        ("net/eth0",): "device 'net/eth0': no such network device",
        ("..",): "device '..': no such network device",
        ("a-name-of-20-letters",): "device 'a-name-of-20-letters': no such network device",
        ("-n", "7", "eth0"): "napi 7: eth0 has no such instance",
        ("-n", "8193", "eth0", "limit", "4"): "name 'limit': of one instance only mode can be set",
    }.items():
        done = net.run(*words)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"rxmode: {said}\n")
    assert net.settings("eth0") == GOVERNOR


def test_a_device_of_the_driver_has_its_own_values(net: Net) -> None:
    device = net.add("eth0")
    (device / "nll").mkdir()
    for attribute, value in DRIVER.items():
        (device / "nll" / attribute).write_text(f"{value}\n")
    done = net.run("eth0", "mode", "auto")
    said = "rxmode: mode: bad value 'auto': allowed interrupt, poll, napi\n"
    assert (done.returncode, done.stderr) == (2, said)
    assert net.run("eth0", "quota", "65").returncode == 2
    assert net.run("eth0", "mode", "poll", "poll_us", "100").returncode == 0
    assert (device / "nll/mode").read_text() == "poll\n"
    assert net.run("-g", "eth0", "mode", "auto").returncode == 0
    assert net.settings("eth0") == GOVERNOR | {"mode": "auto"}


def test_all_changes_or_none(net: Net) -> None:
    """What was written goes back if the kernel takes one of the others not."""
    device = net.add("eth0")
    assert net.run("eth0", "mode", "auto", "limit", "40").returncode == 0
    assert net.settings("eth0") == GOVERNOR | {"mode": "auto", "limit": "40"}
    # It can be read, and takes nothing.
    (device / "governor/low").unlink()
    (device / "governor/low").symlink_to("/proc/version")
    before = net.settings("eth0")
    done = net.run("eth0", "limit", "60", "low", "10", "mode", "poll")
    assert (done.returncode, done.stdout) == (1, "") and "low '10': " in done.stderr
    assert net.settings("eth0") == before


def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def test_json(net: Net) -> None:
    net.add("eth0", "8193 auto hot\n8194 off interrupts\n")
    done = net.run("--json", "eth0")
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)
    counters = dict(line.split() for line in STATS.splitlines())
    assert json.loads(done.stdout, object_pairs_hook=once) == {
        "tool": "rxmode",
        "device": "eth0",
        "by": "governor",
        "settings": {"mode": "off"} | {k: int(v) for k, v in GOVERNOR.items() if k != "mode"},
        "counters": {name: int(value) for name, value in counters.items()},
        "napi": [
            {"id": 8193, "mode": "auto", "state": "hot"},
            {"id": 8194, "mode": "off", "state": "interrupts"},
        ],
    }


def test_watching_counts_from_zero(net: Net) -> None:
    """What is no counter stays what it is: here nothing was counted, and one socket is hot."""
    net.add("eth0")
    done = net.run("--json", "--watch", "1", "eth0")
    counters = json.loads(done.stdout, object_pairs_hook=once)["counters"]
    assert counters.pop("sockets") == 1 and set(counters.values()) == {0}


def test_a_change_without_effect_is_refused(net: Net) -> None:
    """A device without NAPI can be looked at, and set while it is down; off is always allowed."""
    net.add("lo", napi="")
    for words in (("mode", "auto"), ("limit", "40"), ("mode", "off", "limit", "40")):
        done = net.run("lo", *words)
        said = "rxmode: device 'lo': no NAPI instance\n"
        assert (done.returncode, done.stdout, done.stderr) == (3, "", said)
    assert net.settings("lo") == GOVERNOR
    # What is wrong in any case goes before.
    assert net.run("lo", "mode", "fast").returncode == 2
    assert net.run("lo", "mode", "off").stderr == net.run("lo").stderr == ""

    net.add("eth0", napi="", up=False)
    done = net.run("eth0", "mode", "auto")
    said = "rxmode: device 'eth0': no NAPI instance yet, it is down\n"
    assert (done.returncode, done.stderr) == (0, said)
    assert net.settings("eth0")["mode"] == "auto"


def test_without_a_device_all_are_shown(net: Net) -> None:
    assert net.run().returncode == 3
    (net.folder / "bonding_masters").touch()
    net.add("lo", napi="")
    (net.add("eth0") / "governor/mode").write_text("auto\n")
    done = net.run()
    line = " mode {} limit 50 high 30 low 20 quota 64 round_us 200 hold_us 20000\n"
    said = "eth0" + line.format("auto") + "lo" + line.format("off")
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")
    shown = [json.loads(text) for text in net.run("--json").stdout.splitlines()]
    assert [(one["device"], len(one["napi"])) for one in shown] == [("eth0", 1), ("lo", 0)]
    for words in (("-w", "1"), ("-n", "8193")):
        done = net.run(*words)
        assert (done.returncode, done.stderr) == (2, "rxmode: -n and -w need a device\n")

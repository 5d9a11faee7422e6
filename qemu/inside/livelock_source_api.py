# SPDX-License-Identifier: GPL-2.0
"""The controls of nll_source: what they refuse, what they take, what that does.

The rate functions keep their rate, a seed gives the same run again, nothing is changed while it
runs, the lag is waited for, a sender that is taken away stops the run. No card receives: all
frames are lost at the card. It takes two of the machine's cards (82540EM) from their drivers: for
a virtual machine.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from errno import EBUSY, EINVAL, ENODEV, ENOENT, ENOSPC
from functools import partial

from inside import calls
from inside.ktap import FAILED, UNSUPPORTED, Case, Tests, options, run, stop
from inside.task import wait_until

DRIVER = "nll_source"
FILES = f"/sys/kernel/debug/{DRIVER}"
PCI = "/sys/bus/pci"
CARD = "pci:v00008086d0000100E"
MODULE = f"/lab/modules/{DRIVER}.ko"
TARGETS_MAX = 8
SECOND_NS = 1_000_000_000
RUN_PPS, RUN_FRAMES = 20000, 4000
FUNCTIONS = ("constant", "poisson", "normal", "peaks", "ramp")

NAMES = (
    *("config bogus 1", "config packets", "config packets 5 size", "config function cubic"),
    *("config malformed evil", "config packets 5 bogus 1", "run go", "run 11"),
)
NUMBERS = (
    *("packets 0", "packets -1", "packets 1x", "packets 0x10", "packets 4294967296"),
    *("packets 18446744073709551616", "per_ns 0", "sd_permille 334", "depth_permille 0"),
    *("depth_permille 1001", "on_ns 999", "off_ns 3600000000001", "tick_ns 999", "duration_ns 0"),
    *("size 65", "size 1515", "every 4294967296", "lag_ms 3600001"),
)
CONTRADICTIONS = (
    "warmup_ms 1000 duration_ns 1000000000",
    "packets 4294967295 per_ns 1000",
    "packets 1 per_ns 60000000001",
    "function peaks packets 1 per_ns 1000000000 on_ns 1000 off_ns 1000",
    "function ramp packets 1 per_ns 1000000000 period_ns 1000000",
)
TARGETS = (
    *("x", "0000:00:18.0 0000:00:10.0 10.9.0.2", "{sender} {sender} 10.9.0.2 9001"),
    *("{sender} {receiver} 10.9.0.2 9001 more", "{sender} 0000:00:00.0 10.9.0.2 9001"),
)
ADDRESSES = (
    *("10.9.0.256 9001", "10.9.0 9001", "host 9001", "10.9.0.2 0", "10.9.0.2 65536"),
    *("10.9.0.2 -1", "10.9.0.2 9001x"),
)
TARGET = "targets {sender} {receiver} 10.9.0.2 9001"
CARDS: dict[str, str] = {}
"""The sender's and the receiver's address."""


def write(line: str) -> int:
    """A file of the source, and the text for it: an errno, or 0."""
    file, _, text = line.format(**CARDS).partition(" ")
    return calls.fails(calls.write, f"{FILES}/{file}", text)


def clear() -> None:
    """Forget the receiver."""
    write("targets clear")


def refused(start: str, lines: Iterable[str], case: Case) -> None:
    """EINVAL, and the file says what it said before."""
    for line in lines:
        line = start + line
        file = f"{FILES}/{line.split()[0]}"
        before = calls.read(file)
        case.equal(write(line), EINVAL, f"'{line}'")
        case.expect(calls.read(file) == before, f"'{line}' changed something")


def start_refused(case: Case) -> None:
    case.expect(write("run 1") == EINVAL, "it starts without a target")
    case.expect(not write(TARGET), "no target")
    write("config start_ns 1")
    case.expect(write("run 1") == EINVAL, "it starts in the past")
    write("config start_ns 0")
    clear()


def too_many_refused(case: Case) -> None:
    errors = [write(TARGET) for _ in range(TARGETS_MAX + 1)]
    case.equal(errors, [0] * TARGETS_MAX + [ENOSPC], "targets")
    clear()


def done() -> bool:
    """The run has ended, with its lag."""
    return calls.read(f"{FILES}/run") == "done\n"


def end_run(case: Case) -> None:
    case.expect(wait_until(done), "the run does not end")


def begin(case: Case, config: str) -> None:
    """Start a run to the target."""
    for line in (TARGET, f"config per_ns {SECOND_NS} {config}", "run 1"):
        case.equal(write(line), 0, f"'{line}'")


def counts(case: Case, function: str, seed: int) -> dict[str, int]:
    """What a whole run comes to."""
    times = f"duration_ns {SECOND_NS * RUN_FRAMES // RUN_PPS} warmup_ms 0 lag_ms 0"
    begin(case, f"{times} function {function} packets {RUN_PPS} seed {seed}")
    end_run(case)
    lines = [line.split() for line in calls.read(f"{FILES}/results").splitlines()]
    words = next(line for line in lines if line[:3] == ["target", "0", "total"])
    clear()
    return {name: int(words[words.index(name) + 1]) for name in ("due", "sent", "tail", "full")}


def functions_keep_the_rate(case: Case) -> None:
    """A tenth is far above what the random functions miss in that many frames."""
    for name in FUNCTIONS:
        found = counts(case, name, 1)
        due = found["due"]
        within = 1 if name == "constant" else RUN_FRAMES // 10
        case.expect(abs(due - RUN_FRAMES) <= within, f"{name}: {due} frames, not {RUN_FRAMES}")
        lost = {"due": due, "sent": 0, "tail": due, "full": 1}
        case.equal(found, lost, f"{name}: no card listens")


def seeds_tell_runs_apart(case: Case) -> None:
    first, again, other = (counts(case, "poisson", seed)["due"] for seed in (7, 7, 8))
    case.expect(first == again, "the same seed gives another run")
    case.expect(first != other, "another seed gives the same run")


def busy_while_it_runs(case: Case) -> None:
    begin(case, f"packets 1000 duration_ns {60 * SECOND_NS}")
    for line in ("config packets 5", "targets clear", "run 1"):
        case.expect(write(line) == EBUSY, f"'{line}' is taken while it runs")
    case.expect(not done(), "it has ended at once")
    case.expect(not write("run 0"), "it does not stop")
    case.expect(done(), "it was stopped and still runs")
    clear()


def lag_is_waited_for(case: Case) -> None:
    first = time.monotonic()
    begin(case, "packets 1000 duration_ns 1000000 lag_ms 150")
    end_run(case)
    case.expect(time.monotonic() - first >= 0.151, "it ended before its lag was over")
    write(f"config lag_ms 0 duration_ns {SECOND_NS}")
    clear()


def unbind(card: str) -> int:
    """Take a card's driver away, if it has one: an errno, or 0."""
    error = calls.fails(calls.write, f"{PCI}/devices/{card}/driver/unbind", card)
    return 0 if error == ENOENT else error


def bind_sender() -> int:
    """Give the sender the driver that it is reserved for: an errno, or 0."""
    error = calls.fails(calls.write, f"{PCI}/drivers_probe", CARDS["sender"])
    there = os.path.exists(f"{PCI}/drivers/{DRIVER}/{CARDS['sender']}")
    return error or (0 if there else ENODEV)


def gone_with_its_device(case: Case) -> None:
    begin(case, f"packets 100000 duration_ns {60 * SECOND_NS}")
    case.expect(not unbind(CARDS["sender"]), "the sender cannot be taken away")
    case.expect(done(), "it runs without its device")
    case.expect(not calls.read(f"{FILES}/targets"), "it has still targets")
    case.expect(write(TARGET) == EINVAL, "the device still sends")
    case.expect(not bind_sender(), "the sender does not come back")


TESTS: Tests = {
    "refusals": {
        "names": partial(refused, "", NAMES),
        "numbers": partial(refused, "config ", NUMBERS),
        "contradictions": partial(refused, "config ", CONTRADICTIONS),
        "targets": partial(refused, "targets ", TARGETS),
        "addresses": partial(refused, "targets {sender} {receiver} ", ADDRESSES),
        "start": start_refused,
        "too-many-targets": too_many_refused,
    },
    "effects": {
        "functions": functions_keep_the_rate,
        "seeds": seeds_tell_runs_apart,
        "busy": busy_while_it_runs,
        "lag": lag_is_waited_for,
        "device-gone": gone_with_its_device,
    },
}


def main() -> None:
    """Take the receiver from its driver, give the source the sender, and test all."""
    options()
    names = sorted(os.listdir(f"{PCI}/devices"))
    cards = [
        name for name in names if calls.read(f"{PCI}/devices/{name}/modalias").startswith(CARD)
    ]
    if len(cards) < 2:
        stop(UNSUPPORTED, f"needs 2 cards (82540EM), found {len(cards)}")
    CARDS.update(receiver=cards[0], sender=cards[len(cards) // 2])
    if os.path.exists(MODULE) and not os.path.exists(FILES):
        calls.load_module(MODULE)
    error = unbind(CARDS["receiver"]) or unbind(CARDS["sender"])
    error = error or calls.fails(
        calls.write, f"{PCI}/devices/{CARDS['sender']}/driver_override", DRIVER
    )
    error = error or bind_sender()
    if error == ENODEV:
        stop(UNSUPPORTED, f"{DRIVER}: this kernel does not have it")
    if error:
        stop(FAILED, f"{CARDS}: {os.strerror(error)}")
    clear()
    run(TESTS)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-2.0
"""KVM is used only after a probe boot has answered, or when it was asked for."""

import json
from pathlib import Path
from unittest.mock import Mock

import pytest

from lab.guest import accel
from lab.guest.accel import AUTO, apply, asked_for, choose, kvm_works, probe_kvm
from lab.guest.boot import Boot
from lab.guest.machine import Machine
from lab.guest.result import BootResult, Outcome
from lab.paths import Paths


@pytest.fixture(autouse=True)
def kvm_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    device = tmp_path / "kvm"
    device.write_bytes(b"")
    boot_id = tmp_path / "boot_id"
    boot_id.write_text("first\n")
    monkeypatch.setattr(accel, "KVM", device)
    monkeypatch.setattr(accel, "BOOT_ID", boot_id)
    return device


@pytest.mark.parametrize(("answer", "chosen"), [(True, "kvm"), (False, "tcg")])
def test_verdict_is_kept(built: Paths, answer: bool, chosen: str) -> None:
    probe = Mock(return_value=answer)
    assert choose(built, AUTO, probe) == chosen
    assert choose(built, AUTO, probe) == chosen
    probe.assert_called_once()


def test_verdict_ends_with_the_boot(built: Paths, tmp_path: Path) -> None:
    probe = Mock(return_value=True)
    assert kvm_works(built, probe)
    (tmp_path / "boot_id").write_text("second\n")
    assert kvm_works(built, probe) and probe.call_count == 2
    (built.out / "kvm.json").write_text("{")
    assert kvm_works(built, probe) and probe.call_count == 3
    assert json.loads((built.out / "kvm.json").read_text())["kvm"] is True


def test_no_device(built: Paths, fake_machine: Machine, kvm_device: Path) -> None:
    kvm_device.unlink()
    probe = Mock(return_value=True)
    assert choose(built, AUTO, probe) == "tcg"
    probe.assert_not_called()
    assert not (built.out / "kvm.json").exists()
    assert not probe_kvm(built, fake_machine)


def test_override(built: Paths) -> None:
    probe = Mock(return_value=False)
    for wanted in ("kvm", "tcg", "icount"):
        assert choose(built, wanted, probe) == wanted
    probe.assert_not_called()


def test_virtual_time_stays(built: Paths) -> None:
    icount, real = Machine(accel="icount"), Machine()
    assert apply(built, icount, AUTO, Mock(return_value=True)).accel == "icount"
    assert apply(built, real, AUTO, Mock(return_value=True)).accel == "kvm"
    assert apply(built, icount, "tcg").accel == "tcg"
    assert apply(built, real, "icount").accel == "icount"


def test_probe_boots_the_kernel_that_is_there(
    built: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    booted = Mock(return_value=BootResult(Boot("probe"), [], built.out, outcome=Outcome.TIMEOUT))
    monkeypatch.setattr(accel, "run_boot", booted)
    assert apply(built, Machine(kernel="up"), AUTO).accel == "tcg"
    ((_, boot, *_), _) = booted.call_args
    assert boot.machine.kernel == "up"


def test_asked_for() -> None:
    assert asked_for("tcg", {"ACCEL": "kvm"}) == "tcg"
    assert asked_for(None, {"ACCEL": "kvm"}) == "kvm"
    assert asked_for(None, {"ACCEL": ""}) == AUTO
    assert asked_for(None, {"ACCEL": "icount:8ns"}) == "icount:8ns"


def test_virtual_time_may_be_as_slow_as_wanted(built: Paths) -> None:
    """Nanoseconds an instruction, as the exponent that QEMU takes."""
    fast, slow = (apply(built, Machine(), text) for text in ("icount:1ns", "icount:1024ns"))
    assert (fast.accel, fast.icount_shift, slow.icount_shift) == ("icount", 0, 10)


@pytest.mark.parametrize(
    ("replay", "end", "works"),
    [
        ("empty", "exit", True),
        ("empty", "hang", False),
        ("silent", "hang", False),
        ("silent", "exit", False),
        ("panic", "exit", False),
        ("empty", "status", False),
    ],
)
def test_probe(built: Paths, fake_machine: Machine, replay: str, end: str, works: bool) -> None:
    machine = fake_machine.with_append(f"fake.replay={replay}", f"fake.end={end}")
    assert probe_kvm(built, machine, 2.0 if end == "hang" else 60.0) is works

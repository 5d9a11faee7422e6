# SPDX-License-Identifier: GPL-2.0
"""What programs refuse, in one line and with nothing changed: a row for each way to refuse."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from lab import LabError
from lab.__main__ import parse
from lab.bench import make_bench
from lab.campaign import seconds
from lab.flood import Flood
from lab.guest import slowdisk
from lab.guest.accel import asked_for
from lab.guest.boot import Boot, Program
from lab.guest.ext4 import Ext4
from lab.guest.machine import Machine
from lab.guest.nics import RECEIVER_SLOT, Nic, pairs
from lab.paths import Paths
from lab.suite import kernel_variant
from lab.tree import kconfig, source
from tests.host.programs import assert_refused, run

UDP = "udprate -r 1 -t 1"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ipclat -m telepathy", "--mechanism: bad value 'telepathy': try --list"),
        ("ipclat -m pipe,", "--mechanism: bad value ''"),
        ("ipclat -k 0", "--iterations: bad value '0': allowed 1..100000000"),
        ("ipclat -k 1e6", "--iterations: bad value '1e6'"),
        ("ipclat --seconds 0", "--seconds: bad value '0': allowed 0.1..3600 s"),
        ("ipclat --policy batch", "--policy: bad value 'batch': allowed other, rr:PRIORITY"),
        ("ipclat --policy rr:0", "--policy: bad value 'rr:0'"),
        ("ipclat --policy fifo:", "--policy: bad value 'fifo:'"),
        ("ipclat --hog-tickets 10", "--hog-tickets needs --hogs"),
        ("ipclat --buckets", "--buckets needs --json"),
        ("ipclat --json --csv", "--json and --csv: one of them is allowed"),
        ("ipclat --runtime /no/such/crun", "--runtime: bad value '/no/such/crun'"),
        ("ipclat --side sender", "--side is for containers that ipclat starts"),
        ("ipclat pipe", "unexpected argument 'pipe'"),
        ("ipclat -m pipe --repeats-csv /no/such/x", "--repeats-csv: cannot write"),
        ("ipclat -m pipe --histogram /no/such/x", "--histogram: cannot write"),
        ("ipclat --percentiles 50,101", "bad value '50,101': allowed up to 16 numbers"),
        ("ipclat --percentiles 50,", "--percentiles: bad value '50,'"),
        (f"ipclat --percentiles {','.join('1' * 17)}", "--percentiles: bad value '1,1"),
        ("ipclat --cpus 0", "--cpus: bad value '0': allowed A,B or same-core, sibling"),
        ("ipclat --cpus 0,0,0", "--cpus: bad value '0,0,0'"),
        ("ipclat --cpus 0,8192", "--cpus: bad value '0,8192'"),
        ("ipclat --cpus 8191,0", "bad value '8191,0': CPU 8191 is not online or not allowed"),
        ("ipclat --both-ways", "--both-ways needs --cpus or --pin"),
        ("udprate -t 1", "-r is missing"),
        ("udprate -u -b 1M -c ::1", "unknown option '-u': -r RATE HOST sends"),
        ("udprate -x", "unknown option '-x', try --help"),
        ("udprate -r 0 -t 1", "--rate: bad value '0': allowed 0.001..100000 Mbit/s"),
        ("udprate -r 3.1234567 -t 1", "--rate: bad value '3.1234567'"),
        ("udprate -r 101G -t 1", "--rate: bad value '101G'"),
        ("udprate -r 1T -t 1", "--rate: bad value '1T'"),
        ("udprate -r 1 -t 0", "--time: bad value '0': allowed 0.001..86400 s"),
        ("udprate -r 0.02 -t 1 -w 64", "--rate: allowed are 64 bytes a second and worker"),
        ("udprate -r 2 -t 0.01", "--time: what is due in 0.010 s is +17.6 % off"),
        ("udprate -r 2 -t 0.01", "allowed whole seconds, 0.294.. s"),
        ("udprate -r 2 -t 0.333 --strict", "--time: what is due in 0.333 s is +0.7 % off"),
        ("udprate -r 0.02 -t 0.1", "-100.0 % off"),
        (f"{UDP} -w 65", "--workers: bad value '65': allowed 1..64"),
        (f"{UDP} -i 0", "--interval: bad value '0': allowed 0.001..86400 s"),
        (f"{UDP} --shape sine", "--shape: bad value 'sine': allowed constant, poisson"),
        (f"{UDP} --shape peaks --on 1 --off 1", "on: with off, at least"),
        (f"{UDP} --method raw", "--method: bad value 'raw': allowed auto, gso, mmsg, send"),
        (f"{UDP} --txtime cbs", "--txtime: bad value 'cbs': allowed fq, etf"),
        (f"{UDP} --naive --txtime fq", "--naive knows no --shape and no --txtime"),
        (f"{UDP} --policy lottery:1000001", "--policy: bad value 'lottery:1000001'"),
        (f"{UDP} --policy other:1", "--policy: bad value 'other:1'"),
        (f"{UDP} --hog-tickets 5", "--hog-tickets needs --hogs"),
        (f"{UDP} --buckets", "--buckets needs --json"),
        (f"{UDP} --strict --naive", "--strict does not go with --best-effort and --naive"),
        (f"{UDP} --strict --blind", "--strict does not go with --blind"),
        (f"{UDP} --receive", "--receive does not go with --rate"),
        (f"{UDP} nowhere", "ADDRESS: bad value 'nowhere'"),
        (f"{UDP} 127.0.0.1 more", "unexpected argument 'more'"),
        (f"{UDP} --loop --blind", "--loop does not go with --blind"),
        (f"{UDP} --loop ::1", "--loop does not go with ADDRESS '::1'"),
        (f"{UDP} --samples /no/such/x", "--samples: cannot write '/no/such/x'"),
        ("udprate --receive --hogs 2", "--receive does not go with --hogs"),
        ("lottery top -d 0.09", "--delay: bad value '0.09': allowed 0.1..3600 s"),
        ("lottery top -d .5", "--delay: bad value '.5'"),
        ("lottery top -n 0", "--count: bad value '0': allowed 1..1000000000"),
        ("lottery top --sort pid", "--sort: bad value 'pid': allowed tickets, got"),
        ("lottery top --delay", "option --delay needs a value"),
        ("lottery top --batch now", "unexpected argument 'now'"),
        ("lottery top --max", "unknown or ambiguous option '--max'"),
        ("lottery tpo", "'tpo': the verbs are top, lend and currency; for a command -t"),
        ("lottery-bench share 2", "bad ratio '2': allowed 2..64 numbers 1..1000000 with ':'"),
        ("lottery-bench share 2:0", "bad ratio '2:0'"),
        ("lottery-bench share 2:1:", "bad ratio '2:1:'"),
    ],
)
def test_bad_input(lab_paths: Paths, line: str, said: str) -> None:
    program, *words = line.split()
    done = run(lab_paths.bin / program, *words)
    assert_refused(done, said)
    assert done.stderr.startswith((f"{program}: ", f"{program} {words[0]}: "))


def program(*argv: str, timeout_s: int = 1) -> Program:
    return Program("a", argv, timeout_s)


ACCELS = "allowed are tcg, kvm, icount, auto"
CARRIED = "carried are 6.12.y and 7.2.y"
TRUE = program("true")


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        (lambda: Machine(cpus=0), "cpus 0: allowed are 1 to 8"),
        (lambda: Machine(cpus=9, kernel="debug"), "cpus 9: allowed are 1 to 8"),
        (lambda: Machine(cpus=2, kernel="up"), "cpus 2: allowed are 1 to 1"),
        (lambda: Machine(mem_mb=64), "mem 64: allowed are 128 to 65536"),
        (lambda: Machine(accel="xen"), "accel 'xen': allowed are tcg, kvm, icount"),
        (lambda: Machine(kernel="old"), "kernel 'old': allowed are guest, debug, plain"),
        (lambda: Machine(seed=-1), "seed -1"),
        (lambda: Machine(icount_shift=11), "icount_shift 11: allowed are 0 to 10"),
        (lambda: Machine(loglevel=9), "loglevel 9"),
        (
            lambda: Nic(RECEIVER_SLOT, model="rtl8139"),
            "model 'rtl8139': allowed are e1000, e1000e, virtio-net-pci",
        ),
        (lambda: pairs(0), "ports 0: allowed are 1 to 8"),
        (lambda: pairs(9), "ports 9: allowed are 1 to 8"),
        *(
            (lambda name=name: Program(name, ("true",), 1), "a name is")
            for name in ("", "a b", "a\tb", "a#b", "-a", "x" * 101, "ä")
        ),
        (lambda: program(), "nothing to execute"),
        (lambda: program(""), "nothing to execute"),
        (lambda: program("a", "b\0c"), "NUL"),
        (lambda: program("a", timeout_s=-1), "timeout -1 s"),
        (lambda: program("a", timeout_s=86401), "allowed are 0 to 86400"),
        (lambda: Boot("b", programs=(TRUE, TRUE)), "b: program 'a' is there twice"),
        (lambda: Boot("b", mode="bash"), "mode 'bash'"),
        (lambda: slowdisk.words(0), "disk depth 0: allowed are 1 to 1024"),
        (lambda: slowdisk.words(1025), "disk depth 1025: allowed are 1 to 1024"),
        (lambda: Ext4(block=512), "ext4 block 512: allowed are 1024, 2048, 4096"),
        (lambda: Ext4(size_mb=4), "ext4 size 4 MiB: allowed are 8 to 65536"),
        (
            lambda: Ext4(journal_mb=2),
            "ext4 journal 2 MiB: allowed are 4 to 512 with blocks of 4096",
        ),
        (lambda: Ext4(64, journal_mb=33), "ext4 journal 33 MiB: allowed are 4 to 32"),
        (lambda: Flood("rtl8139", 1, 1), "driver 'rtl8139': allowed are e1000, napi_livelock"),
        (lambda: Flood("e1000", 0, 1), "rate 0: allowed are 1 to 1000000"),
        (lambda: Flood("e1000", 1, 601), "seconds 601: allowed are 1 to 600"),
        (
            lambda: make_bench("lotery", "full", None, 1, 1),
            "EXP 'lotery': allowed are ipc, livelock, lottery, udp, wrais",
        ),
        (
            lambda: make_bench("lottery", "full", "speed", 1, 1),
            "metric 'speed': allowed are enqueue_ns, ",
        ),
        (lambda: make_bench("lottery", "full", None, 0, 1), "repeat 0: must be 1 to 10"),
        (lambda: make_bench("lottery", "full", None, 11, 1), "repeat 11: must be 1 to 10"),
        *(
            (lambda verb=verb, jobs=jobs: parse([verb, "--jobs", jobs]), f"jobs {jobs}: must be 1 ")
            for verb in ("bench", "demo")
            for jobs in ("0", "-1", "1000000")
        ),
        *(
            (lambda text=text: seconds(text), f"BUDGET '{text}': must be a whole number of s, m")
            for text in ("", "30", "0m", "-1m", "1.5h", "m", "30 m", "1d")
        ),
        *(
            (lambda version=version: source.check_version(version, Path("linux.tar")), CARRIED)
            for version in ("6.1.12", "6.13.0", "7.20.1", "5.12.6", "6.12.0-rc3", None)
        ),
        *(
            (lambda line=line: kconfig.parse("x", f"CONFIG_B=y\n{line}\n"), f"x:2: '{line}")
            for line in ("CONFIG_A", "A=y", "CONFIG_A=yes", "CONFIG_A = y", "\tselect A")
        ),
        (
            lambda: kconfig.parse("x", "CONFIG_A=y\n# CONFIG_A is not set\n"),
            "x:2: CONFIG_A is already at x:1",
        ),
        *(
            (lambda text=text: asked_for(None, {"ACCEL": text}), f"ACCEL '{text}': {ACCELS}")
            for text in ("xen", "icount:7ns", "icount:0ns", "icount:2048ns", "icount:8")
        ),
        (
            lambda: kernel_variant({"LAB_KERNEL": "plain"}),
            "LAB_KERNEL 'plain': allowed are guest, debug, torture, ",
        ),
    ],
)
def test_the_lab_refuses(refused: Callable[[], object], said: str) -> None:
    with pytest.raises(LabError, match=re.escape(said)) as caught:
        refused()
    assert "\n" not in str(caught.value) and caught.value.exit_code == 2

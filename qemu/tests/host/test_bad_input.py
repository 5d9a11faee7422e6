# SPDX-License-Identifier: GPL-2.0
"""What programs refuse, in one line and with nothing changed: a row for each way to refuse."""

import pytest

from lab.paths import Paths
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
        ("lottery-share 2", "bad ratio '2': allowed 2..64 numbers 1..1000000 with ':'"),
        ("lottery-share 2:0", "bad ratio '2:0'"),
        ("lottery-share 2:1:", "bad ratio '2:1:'"),
    ],
)
def test_bad_input(lab_paths: Paths, line: str, said: str) -> None:
    program, *words = line.split()
    done = run(lab_paths.bin / program, *words)
    assert_refused(done, said)
    assert done.stderr.startswith(f"{program}: ")

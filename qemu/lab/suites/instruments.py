# SPDX-License-Identifier: GPL-2.0
"""The instruments: paced sending, and latencies of messages."""

from dataclasses import replace

from lab.machine import Machine
from lab.suites.suite import SHARE_SHIFT, Entry, Suite, shell, smp_machine


def _not_debug(entry: Entry) -> Entry:
    """What asks for a time that the slow kernel with checks does not keep."""
    return replace(entry, debug=False)


def _timed(name: str, script: str, timeout_s: int) -> Entry:
    return _not_debug(shell(name, script, timeout_s))


def _udprate_run(name: str, *args: str) -> Entry:
    """A second to a receiver of its own: to 0.1 %, nothing lost, on time to the millisecond."""
    return _not_debug(Entry(name, ("udprate", "-t", "1", "--loop", "--strict", *args), 60))


def _udprate() -> Suite:
    """The paced sender on the loopback, in virtual time."""
    hogs = ("--hogs", "2")
    lottery = ("--policy", "lottery:18000", "--hog-tickets", "1000")
    too_much = ("-r", "20000", "-w", "4", "--best-effort")
    return Suite(
        "udprate",
        Machine(accel="icount", root=False),
        (
            *(_udprate_run(f"rate-{rate}", "-r", rate) for rate in ("3", "100", "512")),
            _udprate_run("workers-16", "-r", "100", "-w", "16"),
            *(_udprate_run(f"by-{by}", "-r", "50", "--method", by) for by in ("mmsg", "send")),
            *(
                _udprate_run(f"shape-{shape}", "-r", "20", "--shape", shape)
                for shape in ("poisson", "normal", "peaks", "ramp")
            ),
            _udprate_run("hogs-fifo", "-r", "100", *hogs, "--policy", "fifo"),
            # a lottery is won now and then: the rate holds, not every deadline
            _not_debug(
                Entry("hogs-lottery", ("udprate", "-t", "1", "-r", "20", *hogs, *lottery), 60)
            ),
            Entry("too-much", ("udprate", "-t", "1", "--loop", *too_much), 60),
        ),
    )


BUSY = "--hogs 1 --policy fifo"
"""A hog keeps the guest from waiting in the host's time."""


def _txtime(qdisc: str, options: str = "") -> Entry:
    """The kernel sends each packet at its time: 118 us apart, and 0 without the qdisc."""
    paced = f"udprate -r 100 -t 1 --loop --strict --txtime {qdisc} {BUSY}"
    return _timed(
        f"txtime-{qdisc}",
        f"tc qdisc replace dev lo root {qdisc} {options} && {paced} --json >/tmp/out; status=$?; "
        "cat /tmp/out; tc -s qdisc show dev lo; tc qdisc del dev lo root; "
        "[ $status -eq 0 ] && grep -E '\"received_gap_us_p50\":1[0-3][0-9]\\.' /tmp/out",
        60,
    )


def _udprate_tools() -> Suite:
    """What needs a second program."""
    return Suite(
        "udprate-tools",
        Machine(accel="icount"),
        (
            _txtime("fq"),
            # in software a packet leaves by delta before its time; after that it is dropped
            _txtime("etf", "clockid CLOCK_TAI delta 500000"),
            _timed(
                "receive",
                f"udprate -r 10 -t 1 -p 4000 {BUSY} >/dev/null & "
                "udprate --receive -t 1 -p 4000 --json >/tmp/out; status=$?; cat /tmp/out; "
                "[ $status -eq 0 ] && grep '\"lost\":0,' /tmp/out",
                60,
            ),
            shell(
                "refuses-too-much",
                "udprate -r 100000 -t 1 2>/tmp/err; status=$?; cat /tmp/err; "
                "[ $status -eq 1 ] && grep 'can do [0-9]* here; --best-effort' /tmp/err",
            ),
            shell("best-effort", "udprate -r 100000 -t 0.1 --best-effort | grep 'packets skipped'"),
        ),
    )


def _ipclat_run(name: str, mechanisms: str, *args: str, timeout_s: int = 120) -> Entry:
    amount = ("-k", "200", "-n", "1", "-w", "20", "--seconds", "20")
    return Entry(name, ("ipclat", "-m", mechanisms, *amount, *args), timeout_s)


def _ipclat() -> Suite:
    """Each mechanism under each policy, two CPUs in virtual time."""
    machine = replace(smp_machine(2, root=False), accel="icount", icount_shift=SHARE_SHIFT)
    policies = ("other", "rr:90", "fifo", "lottery:1000")
    spinning = "spin,spin-affinity,spin-shm,flag"
    waiting = "semaphore,futex,pipe,eventfd,unix,mq,zmq-inproc,zmq-ipc,zmq-tcp,zmq-perf"
    tickets = ("--policy", "lottery:9000", "--hog-tickets", "500")
    return Suite(
        "ipclat",
        machine,
        (
            *(_not_debug(_ipclat_run(f"spin-{p}", spinning, "--policy", p)) for p in policies),
            *(_ipclat_run(f"wait-{p}", waiting, "--policy", p) for p in policies),
            _ipclat_run("hogs-fifo", waiting, "--hogs", "2", "--policy", "fifo"),
            _ipclat_run("hogs-lottery", waiting, "--hogs", "2", *tickets),
        ),
    )


def _ipclat_containers() -> Suite:
    """Two containers of crun, from the root image."""
    both = "zmq-tcp-containers,shm-containers"
    runs = {
        policy: f"ipclat -m {both} -k 200 -n 1 -w 20 --seconds 60 --policy {policy}"
        for policy in ("other", "rr:90", "lottery:1000")
    }
    clean = '[ -z "$(ls /dev/shm)" ] && ! ip link | grep ipclat'
    endless = "ipclat -m zmq-tcp-containers -k 100000000 -n 1 --seconds 60"
    return Suite(
        "ipclat-containers",
        smp_machine(2),
        (
            *(
                shell(
                    f"containers-{policy}",
                    f"{run} >/tmp/out; status=$?; cat /tmp/out; "
                    f"[ $status -eq 0 ] && ! grep 'not supported' /tmp/out && {clean}",
                    180,
                )
                for policy, run in runs.items()
            ),
            # 143: by SIGTERM
            shell(
                "containers-interrupted",
                f"{endless} & pid=$!; until ls /dev/shm/*/state/*/status; do sleep 0.1; done; "
                f"kill $pid; wait $pid; [ $? -eq 143 ] && ! pgrep -x ipclat && {clean}",
                180,
            ),
        ),
    )


def suites() -> tuple[Suite, ...]:
    """All of them."""
    return (_udprate(), _udprate_tools(), _ipclat(), _ipclat_containers())

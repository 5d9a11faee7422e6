# SPDX-License-Identifier: GPL-2.0
"""Latencies of messages."""

from dataclasses import replace

from lab.guest.boot import Boot, Program
from lab.suite import SHARE_SHIFT, shell, smp_machine


def _not_debug(entry: Program) -> Program:
    """What asks for a time that the slow kernel with checks does not keep."""
    return replace(entry, debug=False)


def _ipclat_run(name: str, mechanisms: str, *args: str, timeout_s: int = 120) -> Program:
    amount = ("-k", "200", "-n", "1", "-w", "20", "--seconds", "20")
    return Program(name, ("ipclat", "-m", mechanisms, *amount, *args), timeout_s)


def _ipclat() -> Boot:
    """Each mechanism under each policy, two CPUs in virtual time."""
    machine = replace(smp_machine(2, root=False), accel="icount", icount_shift=SHARE_SHIFT)
    policies = ("other", "rr:90", "fifo", "lottery:1000")
    spinning = "spin,spin-affinity,spin-shm,flag"
    waiting = "semaphore,futex,pipe,eventfd,unix,mq,zmq-inproc,zmq-ipc,zmq-tcp,zmq-perf"
    tickets = ("--policy", "lottery:9000", "--hog-tickets", "500")
    return Boot(
        "ipclat",
        machine,
        (
            *(_not_debug(_ipclat_run(f"spin-{p}", spinning, "--policy", p)) for p in policies),
            *(_ipclat_run(f"wait-{p}", waiting, "--policy", p) for p in policies),
            _ipclat_run("hogs-fifo", waiting, "--hogs", "2", "--policy", "fifo"),
            _ipclat_run("hogs-lottery", waiting, "--hogs", "2", *tickets),
        ),
    )


def _ipclat_containers() -> Boot:
    """Two containers of crun, from the root image."""
    both = "zmq-tcp-containers,shm-containers"
    runs = {
        policy: f"ipclat -m {both} -k 200 -n 1 -w 20 --seconds 60 --policy {policy}"
        for policy in ("other", "rr:90", "lottery:1000")
    }
    clean = '[ -z "$(ls /dev/shm)" ] && ! ip link | grep ipclat'
    endless = "ipclat -m zmq-tcp-containers -k 100000000 -n 1 --seconds 60"
    return Boot(
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


def boots() -> tuple[Boot, ...]:
    """All of them."""
    return (_ipclat(), _ipclat_containers())

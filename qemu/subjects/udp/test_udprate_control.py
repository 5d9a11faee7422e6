# SPDX-License-Identifier: GPL-2.0
"""udprate and its receiver: what arrived comes back to the sender, and into its exit status."""

import json
import os
import re
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lab.flood import free_port
from lab.paths import Paths
from lab.report.document import read_document
from subjects.udp.iperf import listening
from subjects.udp.relay import HEADER, Relay
from tests.host.programs import TIMEOUT_S, Done, assert_refused, run, wait_until

TRIES = 5
# What udprate says of a run in which the host did; of losses and of what else it says more.
STOOD_STILL = re.compile(r"^udprate: (did not hold|[0-9.]+ Mbit/s arrived|ended .* too late)", re.M)
HAS_IPV6 = Path("/proc/net/if_inet6").exists()
# 1000 packets of 100 bytes.
PACKETS = ("-r", "0.8", "-t", "1", "-s", "100")

Program = subprocess.Popen[str]
Fate = Callable[[int], int]
Row = dict[str, Any]


class Tool:
    def __init__(self, *argv: str) -> None:
        self.argv = argv

    def run(self, *words: str) -> Done:
        return run(*self.argv, *words)

    def start(self, *words: str, group: int | None = None) -> Program:
        argv = [*self.argv, *words]
        return subprocess.Popen(argv, stdout=-1, stderr=-1, text=True, process_group=group)


@pytest.fixture
def tool(lab_paths: Paths) -> Tool:
    return Tool(str(lab_paths.bin / "udprate"))


@contextmanager
def receiver(tool: Tool, *words: str) -> Iterator[tuple[str, Program]]:
    port = free_port()
    with tool.start("--receive", "-p", str(port), "--json", *words) as program:
        try:
            wait_until(lambda: listening(port))
            yield str(port), program
        finally:
            program.kill()


@contextmanager
def behind(tool: Tool, fate: Fate, *words: str, late: int = -1) -> Iterator[tuple[str, Program]]:
    with receiver(tool, *words) as (port, program), Relay(int(port), fate, late) as relay:
        yield str(relay.port), program


def ended(program: Program) -> tuple[str, str]:
    program.terminate()
    return program.communicate(timeout=TIMEOUT_S)


def settled(run: Callable[[], Done]) -> Done:
    """A run in which the host did not stand still, if there is one."""
    for _ in range(TRIES):
        done = run()
        if not STOOD_STILL.search(done.stderr):
            break
    return done


def rows(text: str) -> list[Row]:
    return [json.loads(line) for line in text.splitlines()]


def lossy(tool: Tool, fate: Fate, *words: str, late: int = -1) -> tuple[int, Row, str]:
    """Exit status, report and last words of a sender behind a relay.

    A run in which the host stood still, so that packets were left out or came too late for
    their rate, says nothing and is made again.
    """
    for _ in range(TRIES):
        with behind(tool, fate, late=late) as (port, _):
            done = tool.run(*PACKETS, "--json", "-p", port, *words)
        (row,) = rows(done.stdout)
        if row["packets"] == 1000 and not STOOD_STILL.search(done.stderr):
            break
    assert row["packets"] == 1000
    return done.returncode, row, done.stderr


def test_what_was_lost_comes_back_to_the_sender(tool: Tool) -> None:
    """Its numbers as well: at the beginning, in the middle, and at the end."""
    lost = {0, 1, 500, *range(600, 650), 998, 999}
    status, row, said = lossy(tool, lambda number: number not in lost)
    assert (status, row["received"], row["lost"]) == (1, 1000 - len(lost), len(lost))
    assert "55 of 1000 packets were lost" in said
    holes = [(hole["worker"], hole["first"], hole["size"]) for hole in row["lost_at"]]
    assert holes == [(0, 0, 2), (0, 500, 1), (0, 600, 50), (0, 998, 2)]
    times = [hole["at_s"] for hole in row["lost_at"]]
    assert times == sorted(times) and times[0] == 0 and times[2] > 0.4


TWICE = {"received_bytes": 100_000, "lost": 0, "duplicates": 40, "lost_at": []}
LATE = {"lost": 0, "reordered": 1, "lost_at": []}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("fate", "late", "figures", "said"),
    [
        (lambda number: number != 77, -1, {"lost": 1}, "1 of 1000 packets were lost"),
        (lambda number: 3 if number % 50 == 9 else 1, -1, TWICE, "40 packets were duplicates"),
        (lambda _: 1, 40, LATE, "1 packets came out of order"),
    ],
    ids=["lost", "duplicates", "late"],
)
def test_a_few_packets(
    tool: Tool, fate: Fate, late: int, figures: Row, said: str, strict: bool
) -> None:
    """What is wrong with them is an error with --strict alone."""
    status, row, told = lossy(tool, fate, *(["--strict"] if strict else []), late=late)
    assert (status, {name: row[name] for name in figures}) == (strict, figures)
    assert (said in told) is strict


def test_all_is_lost(tool: Tool) -> None:
    status, row, _ = lossy(tool, lambda _: 0)
    assert (status, row["received"], row["lost"]) == (1, 0, 1000)


def test_with_best_effort_it_is_reported_only(tool: Tool) -> None:
    """More places than are named are counted."""
    status, row, _ = lossy(tool, lambda number: number % 2, "--best-effort")
    assert (status, row["lost"]) == (0, 500)
    assert len(row["lost_at"]) == 64 and row["lost_elsewhere"] == 500 - 64


def test_both_ends_report_losses_on_the_way(tool: Tool) -> None:
    """Every second packet is lost: half of the rate arrives."""
    with behind(tool, lambda number: number % 2, "-i", "0.2") as (port, program):
        done = tool.run(*PACKETS, "-i", "0.2", "--best-effort", "-p", port)
        _, said = ended(program)
    here = re.findall(
        r"s   \S+ Mbit/s, (\S+) arrived, (\d+) lost so far, \S+ s left$", done.stdout, re.M
    )
    there = re.findall(r"^run 1 .*s   (\S+) Mbit/s, (\d+) lost so far$", said, re.M)
    for lines in (here, there):
        lost = [int(count) for _, count in lines]
        assert lost and lost == sorted(lost) and 50 < lost[-1] <= 500
        assert any(0.3 < float(mbps) < 0.5 for mbps, _ in lines)


def test_the_lost_places_are_said(tool: Tool) -> None:
    """One, several, and several of which one came late."""
    lost = {7, *range(110, 115), 509}
    with behind(tool, lambda number: number not in lost, late=510) as (port, _):
        text = tool.run(*PACKETS, "--best-effort", "-p", port).stdout
    (when,) = re.findall(r"^ +packet 7 \(worker 0\) at (0\.[0-9]{3}) s$", text, re.M)
    (later,) = re.findall(r"^ +packets 110-114 \(worker 0\) at (0\.[0-9]{3}) s$", text, re.M)
    assert re.search(r"^ +1 of packets 509-510 \(worker 0\) at ", text, re.M)
    assert float(when) < float(later)


def test_nothing_has_no_sign(tool: Tool) -> None:
    """A byte less than 12,500,001 is an error of -0.000008 %."""
    done = settled(lambda: tool.run("-r", "100.000008", "-t", "1", "--loop"))
    assert "error 0.0000 %" in done.stdout


def several(tool: Tool, *words: str) -> list[Row]:
    """The reports of senders at once, at 2 Mbit/s and more, which their receiver has, too."""
    with receiver(tool) as (port, program):
        where = ["127.0.0.1", "localhost", *(["::1"] if HAS_IPV6 else [])]
        senders = [
            tool.start("-r", str(2 + i), "-t", "1", "-p", port, "--json", *words, host)
            for i, host in enumerate(where)
        ]
        reports = []
        for sender in senders:
            text, said = sender.communicate(timeout=TIMEOUT_S)
            assert sender.returncode == 0, said
            reports += rows(text)
        text, said = ended(program)
    assert (program.returncode, said) == (0, "")
    told = [row["received"] for row in rows(text)]
    assert sorted(told) == sorted(row["received"] for row in reports)
    return reports


RUN = re.compile(
    r"run (\d) begins +from 127.0.0.1, port \d+, at (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\n"
    r"run (\d) ended +from 127.0.0.1, port \d+, at (\S+)\n"
    r"received +(\d+) packets, .*?\n\n",
    re.S,
)


@pytest.mark.parametrize(("words", "where"), [((), "every address"), (("127.0.0.1",), "127.0.0.1")])
def test_a_receiver_says_where_it_is_and_what_came(
    tool: Tool, words: tuple[str, ...], where: str
) -> None:
    port = free_port()
    with tool.start("--receive", "-p", str(port), *words) as program:
        assert program.stdout
        assert program.stdout.readline() == f"listening at {where}, port {port}\n"
        for seconds in ("0.1", "0.2"):
            tool.run("-r", "2", "-t", seconds, "-p", str(port), "--best-effort")
        text, _ = ended(program)
    found = [one.groups() for one in RUN.finditer(text)]
    assert RUN.sub("", text) == ""
    assert [(one, two) for one, _, two, _, _ in found] == [("1", "1"), ("2", "2")]
    for _, began, _, again, _ in found:
        assert began == again
        ago = datetime.now(UTC) - datetime.fromisoformat(began)
        assert timedelta(0) <= ago < timedelta(seconds=TIMEOUT_S)


def test_a_receiver_document_is_read_as_others_are(tool: Tool, tmp_path: Path) -> None:
    with receiver(tool, "127.0.0.1") as (port, program):
        tool.run("-r", "2", "-t", "0.1", "-p", port, "--best-effort")
        text, _ = ended(program)
    (row,) = rows(text)
    assert row["settings"] == {"address": "127.0.0.1", "port": int(port), "strict": False}
    assert row["peer"]["address"] == "127.0.0.1" and row["peer"]["port"] not in (0, int(port))
    assert row["run"] == 1
    path = tmp_path / "received.json"
    path.write_text(text)
    found = read_document(path)
    assert list(found.named()) == ["receive", "received_gap"]
    assert not {"run", "peer.port"} & set(found.named()["receive"].figures)


def test_several_senders_at_once(tool: Tool) -> None:
    for row in several(tool, "--best-effort"):
        assert (row["lost"], row["received"]) == (0, row["packets"]) and row["packets"]


@pytest.mark.timed
def test_several_senders_at_once_keep_their_rates(tool: Tool) -> None:
    for i, row in enumerate(several(tool)):
        assert row["received_bytes"] * 8 / 1e6 == pytest.approx(2 + i, rel=0.001)


def test_all_samples_are_in_the_buckets(tool: Tool) -> None:
    done = tool.run("--loop", "-r", "2", "-t", "0.5", "-w", "1", "--json", "--buckets")
    (row,) = rows(done.stdout)
    plain = tool.run("--loop", "-r", "2", "-t", "0.1", "--json")
    for name, without in (("late", 0), ("gap", 1), ("received_gap", 1)):
        buckets = row[f"{name}_us_buckets"]
        assert sum(count for _, _, count in buckets) == row["packets"] - without
        assert all(low < high for low, high, _ in buckets)
        assert buckets[-1][0] <= row[f"{name}_us_max"] <= buckets[-1][1]
    assert not any(key.endswith("buckets") for key in rows(plain.stdout)[0])


def test_without_a_receiver_nothing_is_sent(tool: Tool) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sink:
        sink.bind(("127.0.0.1", 0))
        sink.setblocking(False)
        port = sink.getsockname()[1]
        words = ("-r", "1", "-t", "0.2", "-p", str(port))
        done = tool.run(*words)
        said = f"no receiver at 127.0.0.1, port {port}: Connection refused; --blind sends"
        assert_refused(done, said, 1)
        with pytest.raises(BlockingIOError):
            sink.recv(1)
        least = tool.run(*words, "--best-effort")
        assert least.returncode == 0
        assert "received           not known: no udprate answers there" in least.stdout
        blind = tool.run(*words, "--blind", "--json")
        (row,) = rows(blind.stdout)
        assert blind.returncode == 0 and row["arrival_known"] is False and "lost" not in row
        assert sink.recv(1)


def test_what_is_no_udprate_is_no_receiver(tool: Tool) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        tool.start("-r", "1", "-t", "0.2", "-p", str(server.getsockname()[1])) as sender,
        server.accept()[0] as talk,
    ):
        talk.sendall(b"220 mail.example ESMTP")
        _, said = sender.communicate(timeout=TIMEOUT_S)
    assert sender.returncode == 1 and "what listens there is no udprate" in said


def test_what_cannot_be_reached_is_an_error(tool: Tool) -> None:
    setup = """
    ip link set lo up
    ip link add here type veth peer name there
    ip address add 10.9.0.1/24 dev here
    ip link set here up
    ip link set there up
    exec "$@"
    """
    for address, why in (("10.8.0.1", "Network is unreachable"), ("10.9.0.2", "timed out")):
        done = in_namespace(setup, *tool.argv, "-r", "5", "-t", "1", address)
        assert_refused(done, f"no receiver at {address}, port 32000", 1)
        assert why in done.stderr


def test_refused_sends_are_an_error(tool: Tool) -> None:
    done = tool.run("-r", "1", "-t", "1", "--blind", "-p", str(free_port()))
    assert done.returncode == 1
    assert "sends were refused: nothing receives there" in done.stderr


def test_a_receiver_that_goes_away_is_an_error(tool: Tool) -> None:
    with (
        receiver(tool) as (port, program),
        tool.start("-r", "1", "-t", "1", "-i", "0.2", "-p", port) as sender,
    ):
        assert sender.stdout and "Mbit/s" in sender.stdout.readline()
        program.kill()
        _, said = sender.communicate(timeout=TIMEOUT_S)
    assert sender.returncode == 1
    assert "nothing receives there" in said or "the receiver went away" in said


def loses_nothing(tool: Tool, port: str) -> None:
    done = tool.run("-r", "1", "-t", "0.5", "-p", port, "--best-effort", "--json")
    assert done.returncode == 0, done.stderr
    (row,) = rows(done.stdout)
    assert (row["lost"], row["received"]) == (0, row["packets"]) and row["packets"]


def test_a_sender_that_goes_away_disturbs_nobody(tool: Tool) -> None:
    with receiver(tool) as (port, program):
        with tool.start("-r", "1", "-t", "60", "-i", "0.2", "-p", port) as sender:
            assert sender.stdout and "Mbit/s" in sender.stdout.readline()
            sender.kill()
        loses_nothing(tool, port)
        text, said = ended(program)
    assert "a sender went away before the end" in said
    assert len(rows(text)) == 2


@pytest.mark.parametrize("said", [b"GET / HTTP/1.1\r\n\r\n" + b"x" * 64, b"\0" * 600])
def test_a_stranger_is_sent_away(tool: Tool, said: bytes) -> None:
    with receiver(tool) as (port, _):
        with socket.create_connection(("127.0.0.1", int(port)), timeout=TIMEOUT_S) as stranger:
            stranger.sendall(said)
            select.select([stranger], [], [], TIMEOUT_S)
        loses_nothing(tool, port)


def test_strays_beside_a_run_are_counted_apart(tool: Tool) -> None:
    """Empty, too short, with another magic, of a worker that cannot be, and of another run."""

    def with_strays(number: int) -> int:
        if number <= 160:
            magic, worker, key, first = HEADER.unpack(relay.held[: HEADER.size])
            wrong = (magic ^ 1, worker, key), (magic, 1 << 20, key), (magic, worker, key ^ 1)
            for data in (b"", relay.held[:23], *(HEADER.pack(*one, first) for one in wrong)):
                relay.packets.sendto(data, relay.to)
        return 1

    with receiver(tool) as (port, _), Relay(int(port), with_strays, late=0) as relay:
        done = tool.run(*PACKETS, "-p", str(relay.port), "--best-effort", "--json")
    (row,) = rows(done.stdout)
    assert (row["strangers"], row["lost"], row["duplicates"]) == (800, 0, 0)
    assert row["received"] == row["packets"]


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_run_keeps_its_results(tool: Tool, tmp_path: Path, sig: int) -> None:
    samples = tmp_path / "samples.csv"
    words = ("-r", "4", "-t", "600", "-i", "0.5", "--loop", "--samples", str(samples))
    with tool.start(*words) as sender:
        assert sender.stdout
        lines = [sender.stdout.readline() for _ in range(3)]
        sender.send_signal(sig)
        text, said = sender.communicate(timeout=TIMEOUT_S)
    assert (sender.returncode, said) == (0, "")
    assert all("Mbit/s" in line for line in lines) and "interrupted" in text
    (packets,) = re.findall(r"^sent .* (\d+) packets", text, re.M)
    assert "; 0 lost" in text and int(packets) < 10_000
    assert [line.split(",")[0] for line in samples.read_text().split()][:2] == ["second", "0"]


def test_the_trial_knows_its_own_receiver(tool: Tool) -> None:
    """Two million packets a second are more than one receiver takes."""
    done = tool.run("-r", "1000", "-t", "1", "-s", "64", "--loop")
    assert_refused(done, "cannot hold 1000.000 Mbit/s", 1)


@pytest.mark.parametrize(("rate", "packets"), [("0.001", 1), ("3K", 1), ("0.02", 2), ("0.05", 5)])
def test_low_rates_are_exact(tool: Tool, rate: str, packets: int) -> None:
    done = settled(lambda: tool.run("-r", rate, "-t", "1", "--loop", "--strict", "--json"))
    (row,) = rows(done.stdout)
    assert (done.returncode, done.stderr, row["rate_error_pct"]) == (0, "", 0)
    assert row["received"] == row["packets"] == packets
    assert row["received_bytes"] == row["requested_mbps"] * 125_000


@pytest.mark.usefixtures("interruptible")
def test_without_a_time_it_is_ten_seconds(tool: Tool) -> None:
    with tool.start("-r", "1", "--loop", "-i", "0.1") as sender:
        assert sender.stdout and "9.900 s left" in sender.stdout.readline()
        assert "for 10.000 s" in ended(sender)[0]


def test_what_is_sent_to_catch_up_is_said(tool: Tool) -> None:
    """After a stop of 200 ms: the 34 packets that were due in it, but for both ends."""
    with tool.start("-r", "2", "-t", "1", "-i", "0.2", "--loop", "--json", group=0) as sender:
        assert sender.stderr and sender.stderr.readline()
        stopped = time.monotonic()
        os.killpg(sender.pid, signal.SIGSTOP)
        wait_until(lambda: time.monotonic() > stopped + 0.2)
        os.killpg(sender.pid, signal.SIGCONT)
        (row,) = rows(sender.communicate(timeout=TIMEOUT_S)[0])
    assert 30 <= row["catch_up"] <= row["packets"]


def test_nothing_due_is_an_error(tool: Tool) -> None:
    done = tool.run("-r", "0.001", "-t", "0.01", "--shape", "poisson", "--loop")
    assert done.returncode == 1 and "no packet was due in 0.010 s" in done.stderr


@pytest.mark.parametrize(("text", "mbps"), [("500K", 0.5), ("1.5M", 1.5), ("0.002G", 2), ("3", 3)])
def test_units_of_the_rate(tool: Tool, text: str, mbps: float) -> None:
    (row,) = rows(tool.run("-r", text, "-t", "0.1", "--loop", "--best-effort", "--json").stdout)
    assert row["requested_mbps"] == mbps


def in_namespace(setup: str, *argv: str) -> Done:
    """A command in a network of its own, which a shell sets up; nothing outlives it."""
    spaces = ("--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child")
    unshare = ("unshare", *spaces, "sh", "-ec")
    ready = run(*unshare, "true")
    if ready.returncode:
        pytest.skip(f"no such namespace: {ready.stderr.strip()}")
    return run(*unshare, setup, "sh", *argv)


# A network in which there is no loopback, and a receiver at the other end of a cable.
BARE = """
mount -t tmpfs run /run
ip netns add far
ip link add here type veth peer name there netns far
ip address add 10.9.0.1/24 dev here
ip link set here up
ip -n far address add 10.9.0.2/24 dev there
ip -n far link set there up
ip netns exec far "$1" --receive >/dev/null &
until ip netns exec far grep -q ":7D00 .* 0A " /proc/net/tcp /proc/net/tcp6; do :; done
exec "$@"
"""


def test_it_works_without_a_loopback(tool: Tool) -> None:
    done = settled(lambda: in_namespace(BARE, *tool.argv, "-r", "1", "-t", "0.2", "10.9.0.2"))
    assert done.returncode == 0 and "received           17 packets" in done.stdout
    assert done.stderr == "udprate: the rate is not tried out: there is no loopback\n"
    loop = in_namespace('exec "$@"', *tool.argv, "-r", "1", "-t", "0.2", "--loop")
    assert_refused(loop, "--loop: there is no loopback: ip link set lo up", 1)


def behind_a_queue(tool: Tool, seconds: int, *words: str) -> Done:
    """A sender at 10 Mbit/s behind a queue of 5 Mbit/s of frames, in a namespace.

    It holds a tenth of a second: it does not run empty when the sender has to wait. The burst
    is 13 ms of it, which the queue makes up for when its own timer comes late on a busy host.
    """
    queue = "tc qdisc add dev lo root tbf rate 5mbit burst 8k limit 64k"
    setup = f'ip link set lo up mtu 1500; {queue}; exec "$@"'
    usual = ("-r", "10", "-t", str(seconds), "--loop", "--method", "send", "--json")
    return in_namespace(setup, *tool.argv, *usual, *words)


def test_what_a_queue_here_drops_is_seen(tool: Tool) -> None:
    (row,) = rows(behind_a_queue(tool, 1, "--best-effort").stdout)
    assert row["dropped"] > 0 and row["received"] == row["packets"]
    assert row["dropped"] == row["lost"]
    refused = behind_a_queue(tool, 1)
    assert refused.returncode == 1 and refused.stderr


@pytest.mark.timed
def test_what_passes_a_queue_here_is_its_rate(tool: Tool) -> None:
    """Each frame is 42 bytes more than its payload; the burst is 0.4 % of what passes."""
    (row,) = rows(behind_a_queue(tool, 3, "--best-effort").stdout)
    size = row["received_bytes"] / row["received"]
    assert row["received_mbps"] == pytest.approx(5 * size / (size + 42), rel=0.01)

# SPDX-License-Identifier: GPL-2.0
"""The states that are made of a log: what a disk may have, and nothing else."""

import struct
from pathlib import Path

import pytest

from lab import LabError
from lab.guest.ext4 import Ext4
from subjects.wrais import crash, promise
from subjects.wrais.crash import SECTOR, Replay, Write
from subjects.wrais.e2fs import COMMIT, E2fs
from subjects.wrais.promise import Kind, Problem
from subjects.wrais.xfs import BLOCK, Xfs

SEEDS = range(200)
FS = Ext4(63, journal_mb=8)


def anywhere(_write: Write, _end: int) -> bool:
    return True


def entry(sector: int, data: bytes, flags: int = 0) -> bytes:
    head = struct.pack("<QQQQ", sector, len(data) // SECTOR, flags, 0)
    return head.ljust(SECTOR, b"\0") + data


def log_of(path: Path, *entries: bytes) -> Path:
    head = struct.pack("<QQQI", crash.MAGIC, 1, len(entries), SECTOR)
    path.write_bytes(head.ljust(SECTOR, b"\0") + b"".join(entries))
    return path


def block(text: str, sectors: int = 8) -> bytes:
    return b"".join(f"{text}{n}".encode().ljust(SECTOR, b".") for n in range(sectors))


@pytest.fixture
def replay(tmp_path: Path) -> Replay:
    """A disk of 64 sectors: a block, a flush, three blocks, a flush, and one more."""
    log = log_of(
        tmp_path / "log",
        entry(0, block("a")),
        entry(0, b"", crash.FLUSH),
        *(entry(sector, block(name)) for sector, name in ((8, "b"), (16, "c"), (8, "d"))),
        entry(0, b"", crash.FLUSH),
        entry(24, block("e")),
    )
    image = tmp_path / "image"
    image.write_bytes(bytes(64 * SECTOR))
    return Replay(log, crash.read_log(log), image, anywhere)


def state(replay: Replay, seed: int | None) -> bytes:
    path = replay.image.with_name("state")
    replay.crashed(path, seed)
    return path.read_bytes()


def test_a_log_that_is_none_or_cut_off_is_refused(tmp_path: Path) -> None:
    log = log_of(tmp_path / "log", entry(0, block("a")))
    whole = log.read_bytes()
    log.write_bytes(whole[:-1])
    with pytest.raises(LabError, match="cut off in entry 0"):
        crash.read_log(log)
    log.write_bytes(b"\0" + whole[1:])
    with pytest.raises(LabError, match="no write log of version 1"):
        crash.read_log(log)


def test_what_was_flushed_is_there_and_what_comes_later_is_not(replay: Replay) -> None:
    replay.forward(2)
    assert state(replay, None) == block("a") + bytes(56 * SECTOR)
    for seed in SEEDS:
        there = state(replay, seed)
        assert there.startswith(block("a"))
        assert b"e" not in there


def test_a_write_is_kept_torn_at_a_sector_or_lost(replay: Replay) -> None:
    """Every form of each of them occurs, and a later write lies over an earlier one."""
    replay.forward(2)
    ends = [set[int](), set[int](), set[int]()]
    for seed in SEEDS:
        kept = crash.survivors(replay.unflushed(2), seed, anywhere)
        for n, write in enumerate(replay.unflushed(2)):
            ends[n] |= {w.length // SECTOR for w in kept if w.at == write.at}
        there = bytearray(replay.image.read_bytes())
        for write in kept:
            data = replay.log.read_bytes()[write.at : write.at + write.length]
            there[write.offset : write.offset + write.length] = data
        assert state(replay, seed) == there
    assert ends == [set(range(1, 9))] * 3
    lost = [len(crash.survivors(replay.unflushed(2), seed, anywhere)) for seed in SEEDS]
    assert {0, 3} <= set(lost)


def test_what_comes_to_a_place_next_is_torn_and_all_there_is(replay: Replay) -> None:
    """The first of the writes to it; at a place that is not written there is no such state."""
    there = replay.image.with_name("state")
    assert crash.followed_at(replay.writes, 8 * SECTOR) == [2]
    assert crash.followed_at(replay.writes, 24 * SECTOR) == [6]
    assert crash.followed_at(replay.writes, 0) == [0]
    replay.forward(2)
    assert replay.torn_at(there, 8 * SECTOR)
    assert there.read_bytes() == block("a") + block("b", 1) + bytes(55 * SECTOR)
    assert not replay.torn_at(there, 24 * SECTOR)


def test_a_seed_repeats_a_state_and_seeds_differ(replay: Replay) -> None:
    replay.forward(2)
    seeds = replay.seeds(2, 5)
    assert len(seeds) == 5 and not set(seeds) & set(replay.seeds(1, 5))
    states = [state(replay, seed) for seed in seeds]
    assert states == [state(replay, seed) for seed in seeds]
    there = {crash.survivors(replay.unflushed(2), seed, anywhere) for seed in seeds}
    assert len(there) == 5 and () not in there


def test_where_nothing_follows_nothing_can_be_lost(replay: Replay) -> None:
    assert replay.seeds(len(replay.writes), 5) == []


def test_a_write_ends_only_where_it_may(replay: Replay) -> None:
    replay.forward(2)
    for seed in SEEDS:
        kept = crash.survivors(replay.unflushed(2), seed, lambda write, end: end == 3 * SECTOR)
        assert {write.length // SECTOR for write in kept} <= {3, 8}


def test_the_superblock_of_ext4_does_not_tear() -> None:
    border = E2fs(Ext4(63, journal_mb=4)).border(Path())
    first = Write(0, 0, 4096, flush=False)
    assert [end for end in range(SECTOR, 4096, SECTOR) if not border(first, end)] == [1536]
    alone = Write(1024, 0, 1024, flush=False)
    assert not border(alone, 512)


@pytest.mark.parametrize(("by_kernel", "tears"), [(True, True), (False, False)])
def test_a_commit_block_tears_where_the_kernel_replays(by_kernel: bool, tears: bool) -> None:
    border = E2fs(Ext4(63, journal_mb=4), by_kernel).border(Path())
    assert border(Write(1 << 20, 0, 4096, flush=False, head=COMMIT), 512) is tears
    assert border(Write(1 << 20, 0, 4096, flush=False, head=bytes(8)), 512)


def fast(tail: bool) -> bytes:
    """A block of a fast commit: of an inode, and the tail or what fills a block up."""
    inode = struct.pack("<HH", 6, 100).ljust(104, b"i")
    last = struct.pack("<HH", 8 if tail else 7, 4096 - 108)
    return (inode + last).ljust(4096, b"\0")


FLUSHED = entry(0, b"", crash.FLUSH)


@pytest.mark.parametrize(
    ("entries", "late"),
    [
        # A block, a flush, and the tail; then one block, and again two in the rest of the area.
        ([(0, False), None, (1, True), None, (2, True), (3, False), None, (4, True)], []),
        # Behind the tail; not flushed; not written at all; one of an earlier round.
        ([None, (1, True), None, (0, False)], [1]),
        ([(0, False), (1, True)], [1]),
        ([None, (1, True), None], [1]),
        (
            [(0, False), None, (1, True), None, (0, True), (2, False), None, (1, False), (3, True)],
            [8],
        ),
        # A full area ends with blocks without a tail; a full commit begins it anew.
        ([(0, True), (1, False), None, (0, True)], []),
    ],
)
def test_blocks_that_come_late_for_their_tail_are_seen(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    entries: list[tuple[int, bool] | None],
    late: list[int],
) -> None:
    monkeypatch.setattr(E2fs, "fast_area", lambda fs, image: (8 * 4096, 13 * 4096))
    blocks = [FLUSHED if one is None else entry((8 + one[0]) * 8, fast(one[1])) for one in entries]
    log = log_of(tmp_path / "log", *blocks)
    assert E2fs(FS).late_blocks(log, crash.read_log(log), tmp_path / "image") == late


def test_xfs_tears_in_its_log_and_between_blocks(tmp_path: Path) -> None:
    fs = Xfs(63, log_mb=6)
    image = tmp_path / "image"
    fs.make(image)
    border = fs.border(image)
    # The log is the one place that mkfs has written far behind the first group's headers.
    inside = [at for at in range(0, fs.size, BLOCK) if border(Write(at, 0, BLOCK, False), SECTOR)]
    assert len(inside) == (6 << 20) // BLOCK
    assert inside == list(range(inside[0], inside[0] + (6 << 20), BLOCK))
    with image.open("rb") as disk:
        disk.seek(inside[0])
        assert disk.read(4) == bytes.fromhex("feedbabe")
    assert border(Write(0, 0, 4 * BLOCK, False), 2 * BLOCK)
    assert not border(Write(SECTOR, 0, 4 * BLOCK, False), 2 * BLOCK)


class Held:
    def __init__(self, **files: bytes) -> None:
        self.held = files

    def check(self, state: Path) -> list[Problem]:
        return []

    def files(self, state: Path, names: object) -> dict[str, bytes]:
        return self.held


def promised(path: Path, counts: dict[int, int]) -> Path:
    tail = bytearray(promise.TAIL)
    for writer, count in counts.items():
        struct.pack_into("<QQQ", tail, writer * promise.RECORD, promise.MAGIC, writer, count)
    path.write_bytes(bytes(promise.RECORD) + tail)
    return path


def records(writer: int, count: int) -> bytes:
    return b"".join(promise.record(writer, number) for number in range(count))


BLANK, OTHER = bytes(promise.RECORD), promise.record(7, 7)
TORN = promise.record(1, 1)[:SECTOR] + bytes(promise.RECORD - SECTOR)


@pytest.mark.parametrize(
    ("held", "kinds"),
    [
        (records(1, 2), []),
        (records(1, 3), []),
        (records(1, 2) + BLANK, []),
        (records(1, 2) + b"part", []),
        (records(1, 1), [Kind.LOST]),
        (b"", [Kind.LOST]),
        (records(1, 1) + BLANK, [Kind.LOST]),
        (records(1, 1) + TORN, [Kind.ALTERED]),
        (records(1, 2) + OTHER, [Kind.ALTERED]),
    ],
    ids=["all", "more", "blank behind", "part", "one less", "none", "blank", "torn", "other"],
)
def test_a_promise_is_kept_or_not(tmp_path: Path, held: bytes, kinds: list[Kind]) -> None:
    state = promised(tmp_path / "state", {1: 2})
    assert promise.promises(state) == {1: 2}
    assert [problem.kind for problem in promise.problems(Held(w1=held), state)] == kinds


def test_a_file_that_is_not_there_is_lost(tmp_path: Path) -> None:
    state = promised(tmp_path / "state", {0: 1})
    assert [problem.kind for problem in promise.problems(Held(), state)] == [Kind.LOST]

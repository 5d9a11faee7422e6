# SPDX-License-Identifier: GPL-2.0
"""The `kcidb` verb: results of the guests' suites as a report for KCIDB, kernelci.org's database.

One checkout, a build for each kernel that was tested, a test for each result of the
last boot of each suite, as its KTAP says; the form is that of kcidb-io, version 5.3.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab import LabError
from lab.arch import ARCH
from lab.guest.ktap import Case, Status, parse
from lab.labs import told_apart
from lab.paths import VARIANTS, Paths
from lab.report import provenance

VERSION = {"major": 5, "minor": 3}
ROOT = "who_waits"
TREE = "who-waits-for-whom"
ORIGIN = re.compile(r"[a-z0-9_]+")
NODE = re.compile(r"[^a-zA-Z0-9_-]")
STATUS = {
    Status.OK: "PASS",
    Status.FAIL: "FAIL",
    Status.SKIP: "SKIP",
    # it did not come to a result
    Status.CRASH: "ERROR",
    Status.TIMEOUT: "ERROR",
}


def path(*names: str) -> str:
    """Of a test in the tree of tests: dots are between its nodes only."""
    return ".".join((ROOT, *(NODE.sub("_", name) for name in names)))


def cases(names: tuple[str, ...], case: Case) -> Iterator[tuple[tuple[str, ...], Case]]:
    """A result and those inside it; what has results of its own is the sum of them."""
    inside = (*names, case.name)
    if not case.subtests or case.status in (Status.CRASH, Status.TIMEOUT):
        yield inside, case
    for sub in case.subtests:
        yield from cases(inside, sub)


def tests(origin: str, build: str, kernel: str, stream: Path) -> Iterator[dict[str, Any]]:
    """The tests of one boot."""
    document = parse(stream.read_text(errors="replace").splitlines())
    seen: Counter[str] = Counter()
    for case in document.cases:
        for names, one in cases((stream.parent.name,), case):
            where = path(*names)
            yield {
                "id": f"{build}:{told_apart(where, seen, ':')}",
                "build_id": build,
                "origin": origin,
                "path": where,
                "status": STATUS[one.status],
                "environment": {"comment": f"QEMU, kernel-{kernel}"},
                **({"comment": one.reason} if one.reason else {}),
            }


def build_of(origin: str, checkout: str, kernel: str, paths: Paths) -> dict[str, Any]:
    """A kernel that was tested."""
    found = provenance.kernel(paths, kernel)
    return {
        "id": f"{checkout}:{kernel}:{found.config}",
        "checkout_id": checkout,
        "origin": origin,
        "architecture": ARCH.machine,
        "compiler": found.compiler,
        "config_name": kernel,
        "status": "PASS",
        "comment": found.release,
    }


def report(paths: Paths, origin: str) -> dict[str, Any]:
    """All of it.  Raises LabError if no suite has run, or for an origin with a bad name."""
    if not ORIGIN.fullmatch(origin):
        raise LabError(f"origin '{origin}': a name is of a-z, 0-9 and _")
    streams = {
        kernel: sorted((paths.logs / kernel).glob("*/result.ktap"))
        for kernel in VARIANTS
        if (paths.logs / kernel).is_dir()
    }
    if not any(streams.values()):
        raise LabError(f"{paths.logs}: no results of suites: make test", exit_code=1)
    commit, dirty = provenance.commit(paths.top)
    digest = provenance.series(paths)
    checkout: dict[str, Any] = {
        "id": f"{origin}:{commit}:{digest}",
        "origin": origin,
        "tree_name": TREE,
        "valid": True,
        "comment": f"series {digest}{', changed' if dirty else ''}",
        **({} if commit == provenance.UNKNOWN else {"git_commit_hash": commit}),
    }
    builds, found = [], []
    for kernel, files in streams.items():
        if files:
            build = build_of(origin, checkout["id"], kernel, paths)
            builds.append(build)
            found += [t for file in files for t in tests(origin, build["id"], kernel, file)]
    return {"version": VERSION, "checkouts": [checkout], "builds": builds, "tests": found}


def register(parser: argparse.ArgumentParser) -> None:
    parser.description = "results of the guests' suites as a report for KCIDB"
    parser.add_argument("--origin", default="local", help="the name of the reporter (local)")


def verb(args: argparse.Namespace) -> None:
    print(json.dumps(report(Paths.from_env(), args.origin), indent=1))

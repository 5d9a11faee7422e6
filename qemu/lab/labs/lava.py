# SPDX-License-Identifier: GPL-2.0
"""The `lava` verb: a job for LAVA that runs an experiment, and its goals as results there.

The job's device is a container of the dispatcher; what is measured runs in QEMU there, as
everywhere, in virtual time.  Schema: lava_common.schemas of LAVA 2023.01.
"""

import argparse
import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from lab import LabError
from lab.labs import told_apart
from lab.paths import Paths
from lab.registry import lookup, names
from lab.report.references import references
from lab.report.results import run

IMAGE = "debian:12"
MINUTES = {"ipc": 20, "livelock": 120, "lottery": 60, "udp": 30, "wrais": 300}
"""For an experiment on two CPUs, with everything that has to be built first."""
QUICK_MINUTES = 60
REPOSITORY = re.compile(r"(https?|git|ssh)://[^\s'\"]+")
SLUG = re.compile(r"[^a-z0-9.]+")
WORDS = {True: "pass", False: "fail", None: "skip"}


def job(name: str, quick: bool, repository: str) -> str:
    """The job as YAML.  Raises LabError for an unknown experiment, or what is no repository."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    lookup(name)
    if not REPOSITORY.fullmatch(repository):
        raise LabError(f"REPO '{repository}': the address of a repository is needed, as https://")
    folder = FileSystemLoader(Path(__file__).parent)
    environment = Environment(loader=folder, undefined=StrictUndefined, autoescape=False)
    return environment.get_template("lava.yaml.j2").render(
        experiment=name,
        quick=quick,
        minutes=QUICK_MINUTES if quick else MINUTES[name],
        image=IMAGE,
        description=json.dumps(f"repeats {references().documents[name].title}"),
        repository=repository,
    )


def slug(text: str) -> str:
    """A name that LAVA takes for a test case."""
    return SLUG.sub("-", text.lower()).strip("-")


def results(paths: Paths, name: str) -> Iterator[str]:
    """A command of LAVA for each goal.  Raises LabError if nothing was measured."""
    found = run(paths, lookup(name).name)
    if not found.stem:
        raise LabError(f"{paths.results}: no results of {name}: make bench EXP={name}", exit_code=1)
    seen: Counter[str] = Counter()
    for goal in found.verdicts:
        case = told_apart(slug(goal.name), seen, "-")
        yield shlex.join(["lava-test-case", case, "--result", WORDS[goal.met]])


def register(parser: argparse.ArgumentParser) -> None:
    parser.description = "a job for LAVA that runs an experiment, as YAML; or its results"
    parser.add_argument("--exp", required=True, metavar="NAME", help=f"one of {', '.join(names())}")
    parser.add_argument("--quick", action="store_true", help="the short form")
    parser.add_argument("--repository", default="", metavar="URL", help="where to get this from")
    parser.add_argument(
        "--results", action="store_true", help="goals as commands of LAVA's test shell instead"
    )


def verb(args: argparse.Namespace) -> None:
    if args.results:
        for line in results(Paths.from_env(), args.exp):
            print(line)
    else:
        print(job(args.exp, args.quick, args.repository))

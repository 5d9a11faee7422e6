# SPDX-License-Identifier: GPL-2.0
"""Static checks: rules of the series, kernel style, sparse, shellcheck, ruff, mypy, Sphinx."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from lab import LabError, one_of
from lab.host import program
from lab.paths import Paths
from lab.tree import htmldocs, source, words
from lab.tree.kernel import environment, kbuild
from lab.tree.patches import LINKS, Patch, carried, read_every

MAX_LINES = 600
MIN_REASON_WORDS = 12
MAX_MAKEFILE_LINES = 185
BUDGETS = Path(__file__).with_name("lines.toml")

# Where checkpatch is not followed: file, type of its message.
EXCEPTIONS = (
    # A commit that a patch fixes is looked for in the history of a tree that has none.
    ("00*.patch", "UNKNOWN_COMMIT_ID"),
    # The linker script names input sections by pattern, which looks like a product.
    ("01*.patch", "SPACING"),
    # sched_init() states the order of all the classes in this way, ours among them.
    ("01*.patch", "AVOID_BUG"),
    # The list of the features of null_blk is split as it was before.
    ("0201*.patch", "SPLIT_STRING"),
    # Documented in Documentation/scheduler here, not in the tree that it looks into.
    ("pool.c", "UNDOCUMENTED_SETUP"),
    # The one place that asks which kernel it is built in; the macro of the kernel is no constant.
    ("compat.h", "LINUX_VERSION_CODE"),
    ("compat.h", "CONSTANT_COMPARISON"),
    # ethtool names the modes of links in this way.
    ("ethtool.c", "CAMELCASE"),
    # The name of an attribute is that of the parameter.
    ("sysfs.c", "MACRO_ARG_REUSE"),
)

# It speaks for the kernel; a program has no linux/compiler.h and linux/bits.h.
NOT_FOR_PROGRAMS = ("PREFER_DEFINED_ATTRIBUTE_MACRO", "PREFER_KERNEL_TYPES", "BIT_MACRO")

_TRAILER = re.compile(r"^[A-Z][A-Za-z-]+: .+$")
_NEW_FILE = re.compile(r"^(new file mode|rename to|copy to) ", re.M)


def call(argv: Sequence[str], cwd: Path) -> tuple[int, str]:
    """Exit code and output, standard error included."""
    try:
        done = program.run(*argv, cwd=cwd, env=environment())
    except FileNotFoundError as error:
        raise LabError(f"{argv[0]} is not installed: make deps", exit_code=1) from error
    return done.status, done.said


def died(tool: str, status: int, output: str) -> str:
    """A checker that did not come to its end: a problem, however little it said."""
    return f"{tool}: exit {status}: {' '.join(output.split()[-40:]) or 'without a word'}"


def verdict(tool: str, status: int, output: str) -> list[str]:
    """The lines of a checker that exits 1 when it objects, and says why."""
    if status not in (0, 1) or (status and not output.strip()):
        return [died(tool, status, output)]
    return output.splitlines()


def c_files(tree: Path) -> list[Path]:
    """The C sources and headers below a directory, sorted."""
    return sorted(path for path in tree.glob("**/*") if path.suffix in (".c", ".h"))


def series_and_files(patches: Path) -> list[str]:
    """Every entry of the series has its file, and every file its entry."""
    listed = {patch.name for patch in read_every(patches)}
    there = {str(path.relative_to(patches)) for path in patches.rglob("*.patch")}
    return [f"patches/{name}: not in a series" for name in sorted(there - listed)]


def adds_a_file(patch: Patch) -> list[str]:
    """A new file lives under modules/; a patch only changes lines."""
    names = [change.new for change in patch.changes if change.old is None]
    if not names and _NEW_FILE.search(_diff(patch.text)):
        names = ["(mode, rename or copy)"]
    return [f"{patch.name}: adds {name}: new files belong in modules/" for name in names]


def _diff(text: str) -> str:
    start = re.search(r"^diff --git |^--- a/", text, re.M)
    return text[start.start() :] if start else ""


def message(patch: Patch) -> list[str]:
    """What a reviewer reads first: who, when, what, why, and signed off."""
    head, _, rest = patch.text.partition("\n\n")
    problems = [
        f"{patch.name}: no {field}: line in its header"
        for field in ("From", "Date", "Subject")
        if not re.search(rf"^{field}: \S", head, re.M)
    ]
    body = rest.split("\n---\n")[0].splitlines()
    trailers = [line for line in body if _TRAILER.match(line)]
    if not any(line.startswith("Signed-off-by: ") for line in trailers):
        problems.append(f"{patch.name}: no Signed-off-by")
    words = sum(len(line.split()) for line in body if line not in trailers)
    if words < MIN_REASON_WORDS:
        problems.append(f"{patch.name}: its message does not say why")
    if not patch.changes:
        problems.append(f"{patch.name}: changes nothing")
    return problems


def applies_with_am(series: Sequence[Patch], patches: Path, pristine: Path) -> list[str]:
    """git am takes the whole series, on a repository of the files that it touches."""
    names = {name for patch in series for change in patch.changes for name in (change.old,) if name}
    with tempfile.TemporaryDirectory() as scratch:
        repo = Path(scratch)
        for name in sorted(names):
            if (pristine / name).is_file():
                (repo / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(pristine / name, repo / name)
        # Whatever a person's own configuration demands of commits, it is not meant here.
        settings = (
            *("user.name=lab", "user.email=lab@localhost", "commit.gpgsign=false"),
            *("core.hooksPath=/dev/null", "core.autocrlf=false"),
        )
        git = ["git", *(word for setting in settings for word in ("-c", setting))]
        commit = ["commit", "-q", "--allow-empty", "-m", "base"]
        for words in (["init", "-q"], ["add", "-A"], commit):
            status, output = call([*git, *words], repo)
            if status:
                return [f"git {words[0]}: {output.strip()}"]
        for patch in series:
            status, output = call([*git, "am", "-q", str(patches / patch.name)], repo)
            if status:
                return [f"{patch.name}: git am: {' '.join(output.split())}"]
    return []


def gate(paths: Paths) -> list[str]:
    """The rules of the series."""
    series = carried(paths)
    problems = series_and_files(paths.patches)
    for patch in read_every(paths.patches):
        problems += adds_a_file(patch) + message(patch)
    if not source.load(paths.pristine):
        return [*problems, "no pristine source: run make prepare first"]
    return problems + applies_with_am(series, paths.patches, paths.pristine)


def too_long(files: Iterable[Path], top: Path, most: int = MAX_LINES) -> list[str]:
    """Files that have grown past the limit of lines."""
    counts = ((file, file.read_text(errors="replace").count("\n")) for file in files)
    names = ((file.relative_to(top), lines) for file, lines in counts if lines > most)
    return [f"{name}: {lines} lines; at most {most}" for name, lines in names]


def without_licence(files: Iterable[Path], top: Path) -> list[str]:
    wanted = "SPDX-License-Identifier: GPL-2.0"
    heads = ((file, file.read_text(errors="replace").splitlines()[:2]) for file in files)
    bad = (file for file, head in heads if not any(wanted in line for line in head))
    return [f"{file.relative_to(top)}: no {wanted}" for file in bad]


def files_below(folder: Path) -> list[Path]:
    """All its files, but for what begins with a point, caches and the like; a file is itself."""
    if folder.is_file():
        return [folder]
    files = ((path, path.relative_to(folder).parts[:-1]) for path in folder.rglob("*"))
    seen = (path for path, parts in files if not any(part[0] in "._" for part in parts))
    return [path for path in seen if path.is_file()]


def lines_of(file: Path) -> int:
    """The lines of a file; a picture has none."""
    data = file.read_bytes()
    return 0 if b"\0" in data else data.count(b"\n")


def past_their_budget(
    top: Path, budgets: Path = BUDGETS, count: Callable[[Path], int] = lines_of
) -> list[str]:
    """Folders and files with more lines, or of what else is counted, than they may have."""
    found: list[str] = []
    for folder, most in tomllib.loads(budgets.read_text()).items():
        counted = sum(map(count, files_below(top / folder)))
        if counted > most:
            what = f"{counted} {budgets.stem}; at most {most}, says {budgets.name}"
            found.append(f"{folder}: {what}")
    return found


def house(paths: Paths) -> list[str]:
    ours = [*c_files(paths.modules), *c_files(paths.top / "userland")]
    ours += sorted(paths.qemu.glob("**/*.py"))
    problems = too_long(ours, paths.top) + without_licence(ours, paths.top)
    problems += past_their_budget(paths.top)
    problems += past_their_budget(paths.top, words.MOST, words.words_in)
    return problems + too_long([paths.top / "Makefile"], paths.top, MAX_MAKEFILE_LINES)


def checkpatch(paths: Paths) -> list[str]:
    series = [paths.patches / patch.name for patch in read_every(paths.patches)]
    modules = c_files(paths.modules)
    programs = c_files(paths.top / "userland")
    spared = f"--ignore={','.join(NOT_FOR_PROGRAMS)}"
    problems: list[str] = []
    for options, files in (
        ([], series),
        (["--file"], modules),
        (["--file", "--no-tree", spared], programs),
    ):
        if files:
            script = paths.linux / "scripts/checkpatch.pl"
            argv = ["perl", str(script), "--strict", "--terse", "--no-summary", "--show-types"]
            status, output = call([*argv, *options, *map(str, files)], paths.linux)
            lines = verdict("checkpatch", status, output)
            problems += [line for line in lines if not excepted(line)]
    return [problem.removeprefix(f"{paths.top}/") for problem in problems]


def excepted(line: str) -> bool:
    """Whether a "file:line: LEVEL:TYPE: text" of checkpatch is one of the EXCEPTIONS."""
    file, _, rest = line.partition(":")
    name = file.rpartition("/")[2]
    return any(fnmatch(name, glob) and f":{kind}: " in rest for glob, kind in EXCEPTIONS)


def sparse(paths: Paths) -> list[str]:
    """sparse on the modules' objects in the guest's kernel: its warnings about our files."""
    problems: list[str] = []
    for name, link in LINKS.items():
        if not (paths.modules / name / "Kbuild").is_file():
            continue
        # C=2 checks what is up to date, too. The objects themselves stay as they are.
        argv = kbuild(paths, "guest", ["C=2", f"{link}/"])
        status, output = call(argv, paths.top)
        lines = output.splitlines()
        found = [line for line in lines if link in line and re.search(r": (warning|error): ", line)]
        if status and not found:
            found.append(died(f"{name}: sparse", status, output))
        elif not status:
            seen = {line.rpartition("/")[2] for line in lines if line.startswith("  CHECK ")}
            found += [
                f"modules/{name}/{file.name}: sparse did not look at it"
                for file in sorted((paths.modules / name).glob("*.c"))
                if file.name not in seen
            ]
        problems += found
    return problems


def python_tool(*words: str) -> Callable[[Paths], list[str]]:
    """A tool of the Python environment, its caches below $(O)."""

    def run(paths: Paths) -> list[str]:
        tool = words[0]
        binary = paths.venv / "bin" / tool
        if not binary.exists():
            raise LabError(f"{binary}: not there: run make check, not the verb alone", exit_code=1)
        argv = [word.format(cache=paths.out / tool) for word in words[1:]]
        status, output = call([str(binary), *argv], paths.qemu)
        return verdict(tool, status, output) if status else []

    return run


def shellcheck(paths: Paths) -> list[str]:
    """shellcheck on what runs everything and, as Debian's sh, on what machines of tests run."""
    problems: list[str] = []
    for options, scripts in (
        ([], [paths.top / ".ci/run"]),
        (
            ["-x", "--source-path=SCRIPTDIR", "--shell=dash"],
            sorted(paths.qemu.glob("*/**/*.sh")),
        ),
        # As all completions do: words that are split and expanded later, and read by bash.
        (
            ["--shell=bash", "--exclude=SC2016,SC2034,SC2207"],
            [paths.top / "userland/completion"],
        ),
    ):
        argv = ["shellcheck", "--format=gcc", *options, *map(str, scripts)]
        if scripts:
            problems += verdict("shellcheck", *call(argv, paths.top))
    return [problem.removeprefix(f"{paths.top}/") for problem in problems]


CHECKS: dict[str, Callable[[Paths], list[str]]] = {
    "series": gate,
    "house": house,
    "checkpatch": checkpatch,
    "sparse": sparse,
    "shellcheck": shellcheck,
    "ruff": python_tool("ruff", "check", "--quiet", "--cache-dir={cache}", "."),
    "mypy": python_tool("mypy", "--cache-dir={cache}", "--no-error-summary"),
    "htmldocs": htmldocs.problems,
}
"""By name; each returns the problems that it found, one line or block each."""


def _results(paths: Paths, names: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The checks named, in the order of all, and what each finds when it is run."""
    return ((name, check(paths)) for name, check in CHECKS.items() if name in names)


def run(paths: Paths, names: Sequence[str]) -> int:
    """Run the checks named; 1 if any found a problem."""
    return tell(_results(paths, names))


def tell(results: Iterable[tuple[str, Sequence[str]]]) -> int:
    """Print what each check found; 1 if any found a problem."""
    failed = 0
    for name, problems in results:
        print(f"{name}: {len(problems)} problems" if problems else f"{name}: ok")
        for problem in problems:
            print(f"  {problem}")
        sys.stdout.flush()
        failed += bool(problems)
    return 1 if failed else 0


def run_beside(paths: Paths, names: Sequence[str], command: Sequence[str]) -> int:
    """Run a command together with the checks named, which are reported after it."""
    beside = subprocess.Popen(command)
    try:
        results = [*_results(paths, names)]
        status = beside.wait()
    finally:
        beside.terminate()
        beside.wait()
    return tell(results) or status


def register(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="*", help=f"of {', '.join(CHECKS)}; default: all")
    parser.add_argument("--beside", nargs=argparse.REMAINDER, help="run this command meanwhile")


def verb(args: argparse.Namespace) -> int:
    for name in args.name:
        one_of("check", name, CHECKS)
    os.environ["LC_ALL"] = "C"
    paths, chosen = Paths.from_env(), args.name or [*CHECKS]
    return run_beside(paths, chosen, args.beside) if args.beside else run(paths, chosen)

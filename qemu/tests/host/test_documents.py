# SPDX-License-Identifier: GPL-2.0
"""What documents say works: each block is executed as its mark says, what they name is there."""

import os
import re
import shlex
import shutil
from functools import cache
from pathlib import Path

import pytest

from lab.__main__ import VERBS, parse
from lab.mutants import choose, load
from lab.paths import Paths
from lab.registry import EXPERIMENTS
from lab.report.references import references
from lab.tree import htmldocs
from tests.commands import LEFT_OUT
from tests.documents import FILES, MANUALS, TOP, WAYS, Block, blocks, every
from tests.host.browser import WIDE, Browser
from tests.host.checkouts import environment, make, ran

LAB = re.compile(r"\S*python3? -m lab (.*)")


def test_each_block_has_a_mark() -> None:
    found = [one for file in (*FILES, *MANUALS) for one in blocks(file)]
    assert len(found) > 20
    assert not [str(one) for one in found if not one.mark or one.mark.way not in WAYS]


def test_what_has_no_commands_looks_so() -> None:
    """A program of ours, make or a shell's prompt is not text."""
    typed = re.compile(r"(sudo |\$ )?(make|build/lab|lottery|wrais|rxmode|ipclat|udprate) ")
    for one in every("text"):
        assert not [line for line in one.lines if typed.match(line)], one


def spaced(text: str) -> str:
    """Its words, each between blanks: without comments, quotes and what holds a list together."""
    return " ".join(["", *re.split(r"[\s\"'(),\[\]]+", re.sub(r"(?m)^\s*#.*", "", text)), ""])


@pytest.mark.parametrize("block", every("tested"), ids=str)
def test_what_is_tested_elsewhere_is(block: Block) -> None:
    """The launcher in build/ calls main()."""
    words = block.mark.words if block.mark else ()
    names = [word for word in words if "/" not in word]
    files = [(TOP / word).read_text() for word in words if "/" in word]
    sources = [file.read_text() for file in (TOP / "qemu/tests").glob("**/*.py")]
    commands = (spaced(line.replace("build/lab", "main")).split() for line in block.commands())
    typed = [line[line[0] == "sudo" :][:2] for line in commands]
    assert names
    for name in names:
        own = [text for text in sources if f"\ndef {name}(" in text]
        there = spaced("\n".join([*own, *files]))
        assert own and any(spaced(" ".join(two)) in there for two in typed if two[1:]), name


def test_what_is_not_executed_is_there() -> None:
    named = [one for block in every("dry") for one in block.commands()]
    assert all(any(re.fullmatch(left, one) for one in named) for left in LEFT_OUT)


def dry(command: str) -> None:
    """Hand it to make, and what make would call to the lab's parser."""
    assert re.match(r"make\b", command), command
    # what a shell would put there
    words = shlex.split(command.partition(" > ")[0].replace("$(uname -r)", "6.12"))[1:]
    done = make("--dry-run", *words, "O=/nowhere/out")
    assert done.returncode == 0, done.stderr
    called = [found[1] for found in map(LAB.fullmatch, done.stdout.splitlines()) if found]
    for line in called:
        verb, *rest = shlex.split(line)
        assert verb in VERBS
        args = parse([verb, *rest])
        assert getattr(args, "exp", None) in (None, *EXPERIMENTS), command
        if verb == "mutants" and args.name:
            assert choose(load(Paths.from_env()), args.name), command


@pytest.mark.parametrize("block", every("dry"), ids=str)
def test_make_and_the_lab_take_it(block: Block) -> None:
    for command in block.commands():
        dry(command)


def test_the_lab_is_called_as_a_reader_can() -> None:
    """From the checkout, by the launcher in build/."""
    pages = (*FILES, TOP / "CHANGELOG.md", *(TOP / "Documentation/man").iterdir())
    other = re.compile(rf"-m lab\b|[`*] *lab (?:{'|'.join(VERBS)})\b")
    for page in pages:
        assert not other.findall(page.read_text()), page


INLINE = re.compile(r"(?<!`)`{1,2}(make [^`]*)`{1,2}")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_make_takes_what_stands_in_the_text(file: Path) -> None:
    """But for words with capitals that stand for others."""
    for command in sorted(set(INLINE.findall(" ".join(file.read_text().split())))):
        command = command.rstrip("; ")
        words = shlex.split(command)[1:]
        if not words or not all(re.match(r"[a-z]|[A-Z]+=[a-z0-9/.~'-]", word) for word in words):
            continue
        if words[0] in ("modules_install", "olddefconfig") or "userland" in words:
            continue
        dry(command)


@pytest.mark.parametrize("block", every("host"), ids=str)
def test_it_works_here(lab_paths: Paths, block: Block, tmp_path: Path) -> None:
    (tmp_path / "build").symlink_to(lab_paths.out)
    roles = ("AUTHOR", "COMMITTER")
    who = {f"GIT_{role}_{what}": "lab" for role in roles for what in ("NAME", "EMAIL")}
    env = {
        **environment(),
        **who,
        **{"LAB_OUT": str(lab_paths.out), "STACK": str(TOP)},
        "PATH": f"{lab_paths.bin}:{os.environ['PATH']}",
    }
    done = ran("sh", "-euc", block.script(), cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-500:]


def test_a_mark_is_read_with_all_it_says() -> None:
    text = """\
Intro.

.. run: guest
   with it = true
   mkdir x

Do it::

  it --now \\
     twice   # why

::

  not marked
"""
    one, other = blocks(TOP / "some.rst", text)
    assert one.mark and (one.line, one.mark.way) == (9, "guest")
    assert one.commands() == ["mkdir x", "true --now twice"]
    assert other.mark is None and other.lines == ("not marked",)
    (shown,) = blocks(
        TOP / "some.md", "<!-- run: shown -->\n\n    $ a 'b\n      c'\n    d 1\n    $ e\n"
    )
    assert shown.session() == [("a 'b\n  c'", ["d 1"]), ("e", [])]
    markdown = "# A\n\n<!-- run: host\nwith a = b\n-->\n\n    a c\n    d\n\ntext\n"
    (only,) = blocks(TOP / "some.md", markdown)
    assert only.script() == "b c\nd\n"


PAGES = {page.stem: page for page in MANUALS}
# Fonts, and the minus signs, of a page.
MARKUP = re.compile(r"\\f[A-Z]|\\(?=-)")
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z0-9-]*)")
FAMILIES = ("ipclat", "livelock", "lottery", "lprobe", "rxmode", "udprate", "wrais")


def plain(page: Path) -> str:
    return MARKUP.sub("", re.sub(r'^\.\\" .*\n', "", page.read_text(), flags=re.M))


@cache
def said(name: str) -> str:
    return ran(Paths.from_env().bin / name, "--help").stdout


def test_pages_are_of_tools() -> None:
    """A page each; the --help of a test program says everything."""
    found: dict[str, set[str]] = {"programs": set(), "tests": set()}
    for rules in (TOP / "userland").glob("*/progs.mk"):
        for line in rules.read_text().replace("\\\n", " ").splitlines():
            folder, added, names = line.partition(" += ")
            if added and folder in found:
                words = re.sub(r"\$\(addprefix [^,]*,|\)", "", names).split()
                found[folder] |= {Path(word).name for word in words}
    assert found["tests"] and len(PAGES) > 10
    assert set(PAGES) == found["programs"]


@pytest.mark.parametrize("name", sorted(PAGES))
def test_same_options(name: str) -> None:
    """None is in one of the two only; and what looks like a page of ours is one."""
    page = plain(PAGES[name])
    assert set(OPTION.findall(said(name))) == set(OPTION.findall(page))
    named = set(re.findall(r"([\w-]+) \(1\)", page))
    assert {other for other in named if other.startswith(FAMILIES)} <= set(PAGES)


def examples(name: str) -> list[list[str]]:
    section = plain(PAGES[name]).partition(".SH EXAMPLES\n")[2].partition("\n.SH ")[0]
    commands = (part for line in section.splitlines() for part in re.split(r"&&|;|\||>", line))
    words = (re.sub(r"^\.B |^ExecStart=/usr/bin/", "", part.strip()).split() for part in commands)
    return [command for command in words if command and command[0] in PAGES]


def own_options(command: list[str]) -> list[str]:
    """Those of the program itself: what it starts has its own."""
    found: list[str] = []
    for word in command[1:]:
        if word == "--" or word in PAGES or word in ("make", "cyclictest", "psql"):
            break
        found += [word] if re.match(r"--?[A-Za-z]", word) else []
    return found


@pytest.mark.parametrize("name", sorted(PAGES))
def test_has_examples_that_the_program_takes(name: str) -> None:
    """Each begins with a program of ours, most with this one, and has options that it knows."""
    commands = examples(name)
    assert name in {command[0] for command in commands}
    for command in commands:
        for option in own_options(command):
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", said(command[0])), command


def test_what_maintainers_look_after_is_there() -> None:
    named = re.findall(r"^F:\t(.*)", (TOP / "MAINTAINERS").read_text(), re.M)
    assert len(named) > 10 and all(list(TOP.glob(name.rstrip("/"))) for name in named)


@pytest.mark.parametrize("page", FILES, ids=lambda file: file.name)
def test_files_that_a_page_names_are_there(page: Path) -> None:
    """What has capitals stands for a name."""
    inside = r"``((?:configs|modules|patches|qemu|userland)/[\w./-]*)``"
    names = {name for name in re.findall(inside, page.read_text()) if name == name.lower()}
    assert not [name for name in sorted(names) if not (TOP / name).exists()]


README = (TOP / "README.md").read_text()
RESULTS = (TOP / "Documentation/results.rst").read_text()


def row(text: str, words: str) -> str:
    begins = "|" if text is README else words
    (line,) = (line for line in text.splitlines() if line.startswith(begins) and words in line)
    return line


def cells(name: str) -> list[str]:
    return re.split(r"\s{2,}", row(RESULTS, f"{name}  ").strip())[1:]


def test_the_figures_of_readme_are_those_of_the_results() -> None:
    """And it is short."""
    assert len(README.splitlines()) <= 120
    assert f"**{cells('wins of ten tickets / of one')[1]} to 1**" in row(README, "10 to 1")
    stock, ours = (float(cells(name)[0]) for name in ("stock BFQ", "privileged"))
    assert f"takes {stock:.2f} times" in row(README, "starts") and f"**{ours:.2f} times**" in row(
        README, "starts"
    )
    flood = row(README, "60,000 packets/s")
    got, left = cells("e1000, in-tree")
    assert f"| {got}/s reach the application, and {left} % of the CPU" in flood
    got, left = cells("e1000, in-tree, with the governor, no GRO")
    assert f"**{got}/s**, and {left} % of the CPU is left" in flood


def test_the_references_are_named_with_the_links_that_they_state() -> None:
    text = " ".join(README.split())
    for document in references().documents.values():
        assert f"{document.authors}: *{document.original.partition(' (')[0]}*" in text
        assert f"[{document.link_is}]({document.link})" in text or not document.link
    links = set(re.findall(r"\((http[^)]*)\)", text))
    assert links == {one.link for one in references().documents.values() if one.link}


def test_what_readme_names_is_there() -> None:
    for path in re.findall(r"\]\(([^):#]+)\)", README):
        assert (TOP / path).exists(), path


@pytest.fixture(scope="module")
def pages(lab_paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made as by make htmldocs, without a word of complaint."""
    if not shutil.which("sphinx-build"):
        pytest.skip("sphinx-build is missing: make deps installs it")
    out = tmp_path_factory.mktemp("pages")
    (out / "linux").symlink_to(lab_paths.linux)
    assert htmldocs.problems(Paths(TOP, out)) == []
    return out / "htmldocs"


def test_manual_pages_and_the_abi_are_in_the_set(pages: Path) -> None:
    for folder, names in (("man", "*.1"), ("ABI", "testing/*")):
        text = (pages / folder / "index.html").read_text()
        for file in (TOP / "Documentation" / folder).glob(names):
            title = f"{file.stem}(1)" if file.suffix == ".1" else file.name
            assert f"<h2>{title}<" in text, file
    assert "EXIT STATUS" in (pages / "man/index.html").read_text()


def test_mathematics_needs_no_script(pages: Path) -> None:
    text = (pages / "scheduler/sched-lottery.html").read_text()
    assert "<msqrt>" in text and "MathJax" not in text and "\\sqrt" not in text


def test_a_phone_shows_each_page_without_the_network(pages: Path, chromium: Browser) -> None:
    chromium.look(390)
    for page in sorted(pages.glob("**/*.html")):
        seen = chromium.open(page)
        assert seen.complaints == [], page
        assert [url for url in seen.requests if not url.startswith(("file:", "data:"))] == [], page
        assert chromium.ask(WIDE) <= 0, page

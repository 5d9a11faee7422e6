# SPDX-License-Identifier: GPL-2.0
"""Fragments: read, merged, and held against the final .config."""

import os
from pathlib import Path

import pytest

from lab import LabError
from lab.paths import MATRIX, Paths
from lab.suite import tier
from lab.tree import kconfig
from tests.host.fake_kernel import FakeMake, fake_make, patch, prepared, set_series


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """A prepared checkout."""
    return prepared(tmp_path)


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeMake:
    """A make that configures without a kernel."""
    return fake_make(monkeypatch, tmp_path)


def test_parse_all_forms() -> None:
    text = (
        "# SPDX-License-Identifier: GPL-2.0\n\n# Words.\nCONFIG_A=y\nCONFIG_B=m\nCONFIG_C=-1\n"
        'CONFIG_D=0x1f\nCONFIG_E="a b"\n# CONFIG_F is not set\nCONFIG_G=n\n'
    )
    asked = {item.symbol: item.value for item in kconfig.parse("x.config", text)}
    assert asked == {
        "A": "y",
        "B": "m",
        "C": "-1",
        "D": "0x1f",
        "E": '"a b"',
        "F": None,
        "G": None,
    }


@pytest.mark.parametrize("line", ["CONFIG_A", "A=y", "CONFIG_A=yes", "CONFIG_A = y", "\tselect A"])
def test_other_lines_are_refused_with_their_place(line: str) -> None:
    with pytest.raises(LabError, match=r"x\.config:2: ") as caught:
        kconfig.parse("x.config", f"CONFIG_B=y\n{line}\n")
    assert caught.value.exit_code == 2


def test_twice_in_one_fragment_is_refused() -> None:
    with pytest.raises(LabError, match=r"x\.config:2: CONFIG_A is already at x\.config:1"):
        kconfig.parse("x.config", "CONFIG_A=y\n# CONFIG_A is not set\n")


def test_the_later_fragment_wins(tmp_path: Path) -> None:
    (tmp_path / "one.config").write_text("CONFIG_A=y\nCONFIG_B=y\n")
    (tmp_path / "two.config").write_text("# CONFIG_A is not set\n")
    merged = kconfig.merge(tmp_path, ["one", "two"])
    assert merged["A"] == kconfig.Asked("A", None, "two.config:1")
    assert merged["B"].value == "y"
    with pytest.raises(LabError, match=r"three\.config: no such fragment"):
        kconfig.merge(tmp_path, ["three"])


def test_what_is_not_as_asked() -> None:
    text = 'CONFIG_Y=y\nCONFIG_M=y\n# CONFIG_OFF is not set\nCONFIG_FORCED=y\nCONFIG_S="x"\n'
    asked = {
        item.symbol: item
        for item in kconfig.parse(
            "f",
            "CONFIG_Y=y\nCONFIG_M=m\n# CONFIG_OFF is not set\n# CONFIG_FORCED is not set\n"
            'CONFIG_S="x"\nCONFIG_GONE=y\n# CONFIG_NEVER is not set\n',
        )
    }
    unmet = kconfig.broken(asked, kconfig.final_values(text))
    assert [item.symbol for item in unmet] == ["M", "FORCED", "GONE"]


# By kconfig itself, some seconds each: the gate looks at the one with the least in it.
LOOKED_AT = MATRIX if tier(os.environ) == "long" else ("up",)


@pytest.mark.parametrize("variant", LOOKED_AT)
def test_a_kernel_of_the_matrix_can_be_configured(lab_paths: Paths, variant: str) -> None:
    kconfig.write(lab_paths, variant)


def test_configured_once_until_something_changes(paths: Paths, make: FakeMake) -> None:
    kconfig.write(paths, "guest")
    assert (paths.kernel() / ".config").read_text().startswith("CONFIG_BASE=y\n")
    kconfig.write(paths, "guest")
    assert len(make.calls()) == 1
    # A person's menuconfig stays.
    (paths.kernel() / ".config").write_text("CONFIG_MINE=y\n")
    kconfig.write(paths, "guest")
    assert len(make.calls()) == 1
    (paths.configs / "features.config").write_text("CONFIG_MORE=y\n")
    kconfig.write(paths, "guest")
    assert len(make.calls()) == 2
    module = paths.modules / "sched_lottery"
    module.mkdir(parents=True)
    (module / "Kconfig").write_text("config NEW\n\tbool\n")
    kconfig.write(paths, "guest")
    assert len(make.calls()) == 3
    set_series(paths, {"1.patch": patch()})
    kconfig.write(paths, "guest")
    assert len(make.calls()) == 3
    set_series(paths, {"1.patch": patch("kernel/Kconfig.more")})
    kconfig.write(paths, "guest")
    assert len(make.calls()) == 4


def test_options_of_one_kernel_are_asked_of_it_alone(paths: Paths, make: FakeMake) -> None:
    (paths.configs / "kernel").mkdir()
    for kernel, symbol in (("6.12", "OLD"), ("7.2", "NEW")):
        (paths.configs / f"kernel/{kernel}.config").write_text(f"CONFIG_{symbol}=y\n")
    kconfig.write(paths, "guest")
    given = (paths.kernel() / ".config").read_text()
    assert "CONFIG_OLD=y" in given and "CONFIG_NEW" not in given


def test_changed_by_hand_is_noticed_until_it_is_taken_back(paths: Paths, make: FakeMake) -> None:
    """make test and make bench ask; the configuration itself is a person's until then."""
    with pytest.raises(LabError):
        kconfig.unchanged(paths, "guest")
    kconfig.write(paths, "guest")
    kconfig.unchanged(paths, "guest")
    config = paths.kernel() / ".config"
    given = config.read_text()
    config.write_text(given + "CONFIG_MINE=y\n")
    kconfig.write(paths, "guest")
    with pytest.raises(
        LabError, match="only make run boots such a kernel; make defconfig goes"
    ) as (caught):
        kconfig.unchanged(paths, "guest")
    assert caught.value.exit_code == 2 and "\n" not in str(caught.value)
    # Back to the same text, or made anew.
    config.write_text(given)
    kconfig.unchanged(paths, "guest")
    config.write_text("CONFIG_MINE=y\n")
    config.unlink()
    kconfig.write(paths, "guest")
    kconfig.unchanged(paths, "guest")


@pytest.mark.parametrize("text", ["1234", "12ab", "", "[]", "0" * 64])
def test_an_older_stamp_means_configuring_again(paths: Paths, make: FakeMake, text: str) -> None:
    """It was a digest alone, which may even be read as a number."""
    kconfig.write(paths, "guest")
    (paths.kernel() / "lab.config.json").write_text(text)
    kconfig.write(paths, "guest")
    assert len(make.calls()) == 2
    kconfig.unchanged(paths, "guest")


def test_cpus_are_those_of_the_fragments() -> None:
    text = (Paths.from_env({}).configs / "base.config").read_text()
    assert f"\nCONFIG_NR_CPUS={kconfig.maximum_cpus('guest')}\n" in text
    assert kconfig.maximum_cpus("debug") >= 4


def test_debug_is_guest_and_more(paths: Paths, make: FakeMake) -> None:
    kconfig.write(paths, "debug")
    final = kconfig.final_values((paths.kernel("debug") / ".config").read_text())
    assert set(final) == {"ARCH", "BASE", "GUEST", "FEATURES", "KUNIT", "DEBUG"}
    assert f"O={paths.kernel('debug')}" in make.calls()[0]


def test_every_missing_symbol_is_named_with_its_reason(paths: Paths, make: FakeMake) -> None:
    (paths.configs / "features.config").write_text(
        "CONFIG_HAVE_IT=y\nCONFIG_NOWHERE=y\n# CONFIG_FORCED is not set\n"
    )
    (paths.linux / "kernel/Kconfig.more").write_text("\tmenuconfig FORCED\n")
    make.tell(drop="HAVE_IT NOWHERE", force="CONFIG_FORCED=y")
    with pytest.raises(LabError) as caught:
        kconfig.write(paths, "guest")
    assert caught.value.exit_code == 1
    assert str(caught.value) == (
        "kernel-guest: "
        "CONFIG_HAVE_IT=y (features.config:1): is not set, what it depends on is missing; "
        "CONFIG_NOWHERE=y (features.config:2): no such option in this kernel; "
        "# CONFIG_FORCED is not set (features.config:3): is y, forced by another option"
    )
    # It is not taken for configured the next time either.
    with pytest.raises(LabError):
        kconfig.write(paths, "guest")


def test_ours_goes_on_top_of_a_configuration_of_ones_own(
    paths: Paths, make: FakeMake, tmp_path: Path
) -> None:
    own = tmp_path / "config-6.12.0-amd64"
    own.write_text("# Automatically generated.\nCONFIG_MINE=m\n# CONFIG_FEATURES is not set\n")
    kconfig.write(paths, "package", own=own)
    final = kconfig.final_values((paths.kernel("package") / ".config").read_text())
    assert final == {"MINE": "m", "FEATURES": "y"}
    # What nobody names is as the kernel has it: it is a machine's, not a guest's.
    assert "alldefconfig" in make.calls()[0]
    own.write_text("CONFIG_OTHER=y\n")
    kconfig.write(paths, "package", own=own)
    assert len(make.calls()) == 2


def test_of_a_configuration_of_ones_own_only_ours_is_checked(
    paths: Paths, make: FakeMake, tmp_path: Path
) -> None:
    """It may be another kernel's; but a kernel without our options is not what was asked for."""
    own = tmp_path / "own"
    own.write_text("CONFIG_MINE=y\nCONFIG_FEATURES=m\n")
    make.tell(drop="MINE")
    kconfig.write(paths, "package", own=own)
    own.write_text("CONFIG_OTHER=y\n")
    make.tell(drop="FEATURES")
    with pytest.raises(LabError, match=r"CONFIG_FEATURES=y \(features\.config:1\): no such option"):
        kconfig.write(paths, "package", own=own)


def test_a_configuration_that_is_not_one_is_refused(
    paths: Paths, make: FakeMake, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    with pytest.raises(LabError, match=r"CONFIG=.*/own: no such file") as caught:
        kconfig.write(paths, "package", own=own)
    assert caught.value.exit_code == 2
    own.write_text("not a configuration\n")
    with pytest.raises(LabError, match=r"own:1: 'not a configuration': allowed are CONFIG_X=value"):
        kconfig.write(paths, "package", own=own)
    assert make.calls() == []


def test_symbols_of_linked_modules_are_known(paths: Paths, tmp_path: Path) -> None:
    module = tmp_path / "module"
    module.mkdir()
    (module / "Kconfig").write_text("config SCHED_LOTTERY\n\tbool\n")
    (paths.linux / "kernel/sched/lottery").symlink_to(module)
    known = kconfig.defined(paths.linux, ["SCHED_LOTTERY", "HAVE_IT", "NOT"])
    assert known == {"SCHED_LOTTERY", "HAVE_IT"}


def test_a_kconfig_that_does_not_parse_is_shown(paths: Paths, make: FakeMake) -> None:
    make.tell(says="kernel/sched/lottery/Kconfig:3: syntax error", exit="1")
    with pytest.raises(LabError, match=r"lottery/Kconfig:3: syntax error") as caught:
        kconfig.write(paths, "guest")
    assert caught.value.exit_code == 1


def test_without_prepare_it_says_so(tmp_path: Path, make: FakeMake) -> None:
    paths = prepared(tmp_path)
    (paths.out / "linux.json").unlink()
    with pytest.raises(LabError, match="run make prepare first"):
        kconfig.write(paths, "guest")
    assert make.calls() == []


def test_our_own_fragments_are_well_formed() -> None:
    ours = Paths.from_env({})
    for variant, names in kconfig.FRAGMENTS.items():
        assert kconfig.merge(ours.configs, names), variant
    assert kconfig.merge(ours.configs, kconfig.GUEST)["SCHED_LOTTERY"].value == "y"


def test_plain_differs_from_guest_by_what_is_ours_alone() -> None:
    ours = Paths.from_env({})
    guest, plain = (
        kconfig.merge(ours.configs, kconfig.FRAGMENTS[variant]) for variant in ("guest", "plain")
    )
    changed = {name for name, asked in plain.items() if asked.value != guest[name].value}
    assert changed == {name for name in guest if name.startswith(("BFQ_WRAIS", "NET_GOVERNOR"))}
    assert {plain[name].value for name in changed} == {None}

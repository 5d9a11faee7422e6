# SPDX-License-Identifier: GPL-2.0
"""Fragments: read, merged, and held against the final .config."""

import os
from pathlib import Path

import pytest

from lab import LabError
from lab.paths import MATRIX, Paths
from lab.suite import tier
from lab.tree import kconfig
from tests.host.checkouts import script
from tests.host.fake_kernel import FakeMake, patch, prepared, set_series

OURS = Paths.from_env({}).configs


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return prepared(tmp_path)


def test_the_later_fragment_wins_and_what_is_not_as_asked_is_found(tmp_path: Path) -> None:
    (tmp_path / "one.config").write_text("# Words.\n\nCONFIG_A=y\nCONFIG_FORCED=n\nCONFIG_I=-1\n")
    (tmp_path / "two.config").write_text(
        '# CONFIG_A is not set\nCONFIG_M=m\nCONFIG_S="a b"\nCONFIG_X=0x1f\nCONFIG_GONE=y\n'
    )
    merged = kconfig.merge(tmp_path, ["one", "two"])
    assert merged["A"] == kconfig.Asked("A", None, "two.config:1")
    final = kconfig.final_values(
        'CONFIG_M=y\n# CONFIG_A is not set\nCONFIG_FORCED=y\nCONFIG_S="a b"\nCONFIG_X=0x1f\n'
        "CONFIG_I=-1\n"
    )
    assert [item.symbol for item in kconfig.broken(merged, final)] == ["FORCED", "M", "GONE"]
    with pytest.raises(LabError, match=r"three\.config: no such fragment"):
        kconfig.merge(tmp_path, ["three"])


# By kconfig itself, some seconds each: the gate looks at the one with the least in it.
@pytest.mark.parametrize("variant", MATRIX if tier(os.environ) == "long" else ("up",))
def test_a_kernel_of_the_matrix_can_be_configured(lab_paths: Paths, variant: str) -> None:
    kconfig.write(lab_paths, variant)


def test_configured_once_until_something_changes(paths: Paths, make: FakeMake) -> None:
    """A fragment, a Kconfig of ours, a patch of one: not a person's menuconfig."""
    module, config = paths.modules / "sched_lottery", paths.kernel() / ".config"

    def configured() -> int:
        kconfig.write(paths, "guest")
        return len(make.calls())

    assert configured() == configured() == 1
    config.write_text("CONFIG_MINE=y\n")
    assert configured() == 1
    (paths.configs / "features.config").write_text("CONFIG_MORE=y\n")
    assert configured() == 2
    script(module / "Kconfig", "config NEW\n\tbool\n")
    assert configured() == 3
    set_series(paths, {"1.patch": patch()})
    assert configured() == 3
    set_series(paths, {"1.patch": patch("kernel/Kconfig.more")})
    assert configured() == 4
    # A stamp of an older lab, which may even be read as a number.
    for number, text in enumerate(("1234", "12ab", "", "[]", "0" * 64), 5):
        (paths.kernel() / "lab.config.json").write_text(text)
        assert configured() == number


def test_options_of_one_kernel_are_asked_of_it_alone(paths: Paths, make: FakeMake) -> None:
    for kernel, symbol in (("6.12", "OLD"), ("7.2", "NEW")):
        script(paths.configs / f"kernel/{kernel}.config", f"CONFIG_{symbol}=y\n")
    kconfig.write(paths, "guest")
    given = (paths.kernel() / ".config").read_text()
    assert "CONFIG_OLD=y" in given and "CONFIG_NEW" not in given


def test_changed_by_hand_is_noticed_until_it_is_taken_back(paths: Paths, make: FakeMake) -> None:
    with pytest.raises(LabError):
        kconfig.unchanged(paths, "guest")
    kconfig.write(paths, "guest")
    kconfig.unchanged(paths, "guest")
    config = paths.kernel() / ".config"
    given = config.read_text()
    config.write_text(given + "CONFIG_MINE=y\n")
    kconfig.write(paths, "guest")
    with pytest.raises(LabError, match=r"only make run boots such a kernel") as caught:
        kconfig.unchanged(paths, "guest")
    assert caught.value.exit_code == 2
    config.write_text(given)
    kconfig.unchanged(paths, "guest")


def test_every_missing_symbol_is_named_with_its_reason(paths: Paths, make: FakeMake) -> None:
    """And the next time, too: it is not taken for configured."""
    (paths.configs / "features.config").write_text(
        "CONFIG_HAVE_IT=y\nCONFIG_NOWHERE=y\n# CONFIG_FORCED is not set\nCONFIG_SCHED_LOTTERY=y\n"
    )
    (paths.linux / "kernel/Kconfig.more").write_text("\tmenuconfig FORCED\n")
    module = paths.modules / "sched_lottery"
    script(module / "Kconfig", "config SCHED_LOTTERY\n\tbool\n")
    (paths.linux / "kernel/sched/lottery").symlink_to(module)
    make.tell(drop="HAVE_IT|NOWHERE|SCHED_LOTTERY", force="CONFIG_FORCED=y")
    for _ in range(2):
        with pytest.raises(LabError) as caught:
            kconfig.write(paths, "guest")
        assert caught.value.exit_code == 1
        reasons = [part.rpartition(": ")[2].split(",")[0] for part in str(caught.value).split("; ")]
        unset = "is not set"
        assert reasons == [unset, "no such option in this kernel", "is y", unset]
        assert "CONFIG_NOWHERE=y (features.config:2)" in str(caught.value)


def test_of_a_configuration_of_ones_own_only_ours_is_checked(
    paths: Paths, make: FakeMake, tmp_path: Path
) -> None:
    """It may be another kernel's; but a kernel without our options is not what was asked for."""
    own = tmp_path / "own"
    with pytest.raises(LabError, match=r"CONFIG=.*/own: no such file") as caught:
        kconfig.write(paths, "package", own=own)
    assert caught.value.exit_code == 2
    own.write_text("not a configuration\n")
    with pytest.raises(LabError, match=r"own:1: 'not a configuration': allowed are CONFIG_X=value"):
        kconfig.write(paths, "package", own=own)
    assert make.calls() == []
    own.write_text("# Automatically generated.\nCONFIG_MINE=m\n# CONFIG_FEATURES is not set\n")
    kconfig.write(paths, "package", own=own)
    final = kconfig.final_values((paths.kernel("package") / ".config").read_text())
    assert final == {"MINE": "m", "FEATURES": "y"}
    # A machine's kernel: what no fragment names is as the kernel has it.
    assert "alldefconfig" in make.calls()[0]
    own.write_text("CONFIG_MINE=y\nCONFIG_FEATURES=m\n")
    make.tell(drop="MINE")
    kconfig.write(paths, "package", own=own)
    own.write_text("CONFIG_OTHER=y\n")
    make.tell(drop="FEATURES")
    with pytest.raises(LabError, match=r"CONFIG_FEATURES=y \(features\.config:1\): no such option"):
        kconfig.write(paths, "package", own=own)


def test_what_kconfig_says_is_shown_and_without_a_tree_it_is_not_asked(
    paths: Paths, make: FakeMake
) -> None:
    make.tell(says="kernel/sched/lottery/Kconfig:3: syntax error", exit="1")
    with pytest.raises(LabError, match=r"lottery/Kconfig:3: syntax error") as caught:
        kconfig.write(paths, "guest")
    assert caught.value.exit_code == 1
    (paths.out / "linux.json").unlink()
    with pytest.raises(LabError, match="run make prepare first"):
        kconfig.write(paths, "guest")
    assert len(make.calls()) == 1


def test_our_own_fragments_are_well_formed() -> None:
    """And plain differs from guest by privileged I/O and the governor alone."""
    merged = {name: kconfig.merge(OURS, names) for name, names in kconfig.FRAGMENTS.items()}
    assert all(merged.values())
    assert f"\nCONFIG_NR_CPUS={kconfig.maximum_cpus('guest')}\n" in (
        (OURS / "base.config").read_text()
    )
    guest, plain = merged["guest"], merged["plain"]
    changed = {name: item.value for name, item in plain.items() if item.value != guest[name].value}
    ours = {name for name in guest if name.startswith(("BFQ_WRAIS", "NET_GOVERNOR"))}
    assert changed == dict.fromkeys(ours)

# SPDX-License-Identifier: GPL-2.0
"""Stands in for make: behaves like kbuild as far as the lab looks.

Its arguments are appended to the file FAKE_MAKE_LOG names. allnoconfig and alldefconfig turn
KCONFIG_ALLCONFIG into O/.config without the symbols of FAKE_MAKE_DROP and with
the lines of FAKE_MAKE_FORCE; bzImage prints FAKE_MAKE_SAYS and exits with
FAKE_MAKE_EXIT.
"""

import json
import os
import sys
from pathlib import Path


def main() -> int:
    """The exit code of this make."""
    given = dict(word.split("=", 1) for word in sys.argv[1:] if "=" in word)
    with open(os.environ["FAKE_MAKE_LOG"], "a") as log:
        log.write(json.dumps({"argv": sys.argv[1:], "env": dict(os.environ)}) + "\n")
    out = Path(given["O"])
    if {"allnoconfig", "alldefconfig"} & set(sys.argv):
        dropped = os.environ.get("FAKE_MAKE_DROP", "").split()
        lines = Path(given["KCONFIG_ALLCONFIG"]).read_text().splitlines()
        kept = [line for line in lines if not any(f"CONFIG_{name}=" in line for name in dropped)]
        kept += os.environ.get("FAKE_MAKE_FORCE", "").split()
        (out / ".config").write_text("".join(f"{line}\n" for line in kept))
    print(os.environ.get("FAKE_MAKE_SAYS", ""))
    status = int(os.environ.get("FAKE_MAKE_EXIT", "0"))
    if "bzImage" in sys.argv and not status:
        (out / "vmlinux").touch()
    return status


if __name__ == "__main__":
    sys.exit(main())

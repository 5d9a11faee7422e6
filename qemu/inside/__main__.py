# SPDX-License-Identifier: GPL-2.0
"""The guest's way in: python3 FOLDER NAME ARGS... runs inside.NAME with these arguments."""

import runpy
import sys

del sys.argv[0]
runpy.run_module(f"inside.{sys.argv[0]}", run_name="__main__", alter_sys=True)

# SPDX-License-Identifier: GPL-2.0
"""How Sphinx makes pages of this directory: make htmldocs, which sets KERNEL_TREE."""

import os
import sys
from pathlib import Path

project = "Who waits for whom"
author = "The authors of Who waits for whom"
html_theme = "alabaster"
html_show_copyright = False
highlight_language = "none"
exclude_patterns = ["ABI", "man"]
smartquotes = False

# The kernel's extension reads the comments of our headers where they lie.
kernel = Path(os.environ["KERNEL_TREE"])
sys.path.insert(0, str(kernel / "Documentation/sphinx"))
extensions = ["kerneldoc"]
kerneldoc_bin = str(kernel / "scripts/kernel-doc")
kerneldoc_srctree = str(Path(__file__).resolve().parents[1])

# SPDX-License-Identifier: GPL-2.0
"""How Sphinx makes pages of this directory: make htmldocs, which sets KERNEL_TREE."""

import os
import subprocess
import sys
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.utils.math.latex2mathml import tex2mathml

project = "Who waits for whom"
author = "The authors of Who waits for whom"
html_theme = "alabaster"
html_theme_options = {"page_width": "66rem", "body_max_width": "46rem"}
html_static_path = ["static"]
html_show_copyright = False
html_math_renderer = "mathml"
highlight_language = "none"
smartquotes = False

# The kernel's extension reads the comments of our headers where they lie.
kernel = Path(os.environ["KERNEL_TREE"])
sys.path.insert(0, str(kernel / "Documentation/sphinx"))
extensions = ["kerneldoc"]
kerneldoc_bin = str(kernel / "scripts/kernel-doc")
kerneldoc_srctree = str(Path(__file__).resolve().parents[1])

GROFF = ("groff", "-man", "-Tutf8", "-P-cbou", "-rLL=70n", "-rHY=0", "-dAD=l")


class Files(Directive):
    """A section for each file of a glob: manual pages as man(1) shows them, others as they are."""

    required_arguments = 1

    def run(self):
        env = self.state.document.settings.env
        files = sorted(Path(env.srcdir).glob(self.arguments[0]))
        return [self.section(env, file) for file in files]

    def section(self, env, file):
        """Its title is the name of the file, that of a manual page is NAME(1)."""
        env.note_dependency(str(file))
        text, title = file.read_text(encoding="utf-8"), file.name
        if file.suffix == ".1":
            text = subprocess.check_output([*GROFF, file], text=True)
            title = f"{file.stem}(1)"
        section = nodes.section(ids=[nodes.make_id(file.name)])
        section += nodes.title(text=title)
        section += nodes.literal_block(text, text, language="none")
        return section


def math(writer, node):
    """MathML: browsers show it without a script and without the network."""
    writer.body.append(tex2mathml(node.astext(), inline=isinstance(node, nodes.math)))
    raise nodes.SkipNode


def setup(app):
    """What Sphinx has no option for."""
    app.add_directive("files", Files)
    app.add_html_math_renderer("mathml", (math, None), (math, None))

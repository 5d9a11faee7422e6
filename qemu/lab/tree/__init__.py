# SPDX-License-Identifier: GPL-2.0
"""From a tarball to a kernel: source, patches, configuration, build, static checks."""

# SPDX-License-Identifier: GPL-2.0
"""What the host must have: packages, the root image, progress shown to a person."""

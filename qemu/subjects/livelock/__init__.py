# SPDX-License-Identifier: GPL-2.0
"""The livelock experiment: what applications and others get of the CPU in a flood of frames."""

# SPDX-License-Identifier: GPL-2.0
"""That the guest is whole, and the unit tests inside the kernel."""

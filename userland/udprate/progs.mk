# SPDX-License-Identifier: GPL-2.0
# The paced UDP sender and receiver.

programs += udprate/udprate

udprate-parts := options receive report schedule send session
# -w: the linker says that names of hosts need the C library's modules; /etc/hosts and DNS
# are built in.
udprate-libs := -Wl,-w

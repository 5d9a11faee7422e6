# SPDX-License-Identifier: GPL-2.0
# The paced UDP sender and receiver.

programs += udprate/udprate

udprate-parts := options pace receive report schedule send sequence transmit trial

# SPDX-License-Identifier: GPL-2.0
# The kernel's own torture tests beside lottery hogs, one on every CPU.

reports=12

# The caller is above the hogs from now on. What it starts begins there, too: a hog is
# handed to the class by lottery, and a thread of the kernel is an ordinary one.
start_hogs() {
	chrt -f -p 1 $$
	hogs=
	for cpu in $(seq 0 $(($(nproc) - 1))); do
		lottery -t 100 taskset -c "$cpu" sh -c 'while :; do :; done' &
		hogs="$hogs $!"
	done
}

# They are of the class still, and end.
stop_hogs() {
	for hog in $hogs; do
		lottery -p "$hog" --json | grep '"tickets":100,'
		kill "$hog"
	done
}

# The lines of the kernel's log with WORDS since it was cleared.
said() {
	dmesg | grep -c -e "$1" || true
}

# The module has told so often what it did: it has worked for so many of its intervals.
await_reports() {
	left=600
	while [ "$(said "$1")" -lt "$reports" ] && [ $((left -= 1)) -gt 0 ]; do
		sleep 1
	done
	dmesg | grep -e "$1" | tail -n 1 | sed 's/^/# /'
	[ "$(said "$1")" -ge "$reports" ]
}

# The module is gone, and its last word is that nothing went wrong.
ended_well() {
	dmesg | grep -e '-torture:--- End of test: ' | sed 's/^/# /'
	[ "$(said '-torture:--- End of test: SUCCESS')" -eq 1 ]
}

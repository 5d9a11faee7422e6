# SPDX-License-Identifier: GPL-2.0
# What several scenarios use; most of it for the kernel's own torture tests under lottery
# hogs, one on every CPU.

reports=12

# A command that judges a rate, a share or a time: with LAB_BOUNDS=off a miss is only noted.
bound() {
	"$@" || { [ "${LAB_BOUNDS:-}" = off ] && echo "# bound missed: $*"; }
}

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

# Lines of the kernel's log, since it was cleared, that begin with WORDS: what the shell
# says of its own commands is in there, too, with them in it.
said() {
	dmesg --notime | grep -e "^$1" || true
}

count() {
	said "$1" | wc -l
}

# The module has told so often what it did: it has worked for so many of its intervals.
await_reports() {
	left=600
	while [ "$(count "$1")" -lt "$reports" ] && [ $((left -= 1)) -gt 0 ]; do
		sleep 1
	done
	said "$1" | tail -n 1 | sed 's/^/# /'
	[ "$(count "$1")" -ge "$reports" ]
}

# The module is gone, and its last word is that nothing went wrong.
ended_well() {
	said '[a-z_]*-torture:--- End of test: ' | sed 's/^/# /'
	[ "$(count '[a-z_]*-torture:--- End of test: ')" -eq 1 ]
	[ "$(count '[a-z_]*-torture:--- End of test: SUCCESS')" -eq 1 ]
}

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Name: other-tools
# What: Other tools leave the policy alone; RLIMIT_CPU, cpu.stat and PSI count a task of the class.
# Needs: root cpus=2
# Time: 120
# Debug: no
# On both CPUs the hogs would leave the shell 5 %, its floor.
taskset -pc 0 $$
group=/sys/fs/cgroup/stressed
mkdir "$group"
leave() {
	echo 1 >"$group/cgroup.kill"
	until rmdir "$group"; do
		sleep 0.1
	done
}
trap leave EXIT
taskset -c 1 lottery -t 300 -q 20000 sh -c "echo \$\$ >$group/cgroup.procs
	exec stress-ng --temp-path /tmp --cpu 1 --cpu-method loop" &
stress=$!
looks=0
until hog=$(pgrep -P "$stress" -x stress-ng-cpu); do
	looks=$((looks + 1))
	test "$looks" -lt 200
	sleep 0.1
done

# A hog beside it ends by SIGXCPU. What the cgroup uses and waits for is of the class.
counts() {
	sed -n 's/^usage_usec //p; s/^some .* total=//p' "$group/cpu.stat" "$group/cpu.pressure"
}
before=$(counts) status=0
taskset -c 1 lottery -t 300 sh -c 'ulimit -St 1; while :; do :; done' || status=$?
test "$status" -eq 152
printf '%s\n' "$before" "$(counts)" | awk '{ n[NR] = $1 } END { exit n[3] <= n[1] || n[4] <= n[2] }'

chrt -a -p "$hog"
uclampset -m 100 -M 800 -p "$hog"
uclampset -p "$hog" | grep 'min: 100 max: 800$'
ps -o pid,cls,rtprio,pri,ni,comm -p "$hog"
top -b -n 1 -p "$hog" | grep "^ *$hog "
lottery -p "$hog" --json | grep '"tickets":300,.*"quantum_ns":20000000[,}]'
kill "$stress"
wait "$stress"

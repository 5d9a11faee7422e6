#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# On the machine that was booted from the disk: each function is a step, unless others
# call it. "ok NAME" or, behind what it said, "not ok NAME" goes to the second serial line.
# shellcheck disable=SC2317

result=/dev/ttyS1
stty -F $result -echo -onlcr 2>/dev/null
examples=/usr/share/doc/who-waits-for-whom/examples
units=/etc/systemd/system

# Up to 100 times: a condition that a daemon makes true.
until_true() {
	for _ in $(seq 100); do
		if "$@"; then
			return 0
		fi
		udevadm settle
	done
	return 1
}

booted_by_firmware() {
	test -d /sys/firmware/efi
	test -e /sys/firmware/efi/efivars/LoaderInfo-*
	dpkg --status "linux-image-$(uname -r)" | grep '^Status: install ok installed'
	test -d "/lib/modules/$(uname -r)/build/include"
}

nothing_is_switched_on() {
	test "$(cat /proc/sys/kernel/wrais)" = 0
	test "$(systemctl is-enabled wrais.service)" = disabled
	test "$(systemctl is-active wrais.service)" = inactive
}

udev_rule_chooses_bfq() {
	cp $examples/60-bfq.rules /etc/udev/rules.d
	udevadm control --reload
	udevadm trigger --settle --subsystem-match=block
	grep '\[bfq\]' /sys/block/sda/queue/scheduler
}

wrais_service_switches() {
	systemctl start wrais.service
	test "$(cat /proc/sys/kernel/wrais)" = 1
	systemctl stop wrais.service
	test "$(cat /proc/sys/kernel/wrais)" = 0
	systemctl enable --now wrais.service
	test "$(cat /proc/sys/kernel/wrais)" = 1
}

counter() {
	wrais stat | sed -n 's/^raised_requests  *//p'
}

drop_in_makes_a_service_privileged() {
	mkdir -p $units/reader.service.d
	cp $examples/wrais.conf $units/reader.service.d
	printf '%s\n' '[Service]' 'ExecStart=/bin/sleep infinity' \
		'ExecStartPost=/bin/dd if=/dev/sda of=/dev/null bs=4k count=64 iflag=direct' \
		>$units/reader.service
	systemctl daemon-reload
	before=$(counter)
	systemctl start reader.service
	after=$(counter)
	wrais --json -p "$(systemctl show -P MainPID reader.service)" | grep '"privileged": *true'
	test $((after - before)) -ge 64
	systemctl stop reader.service
}

lottery_in_a_unit() {
	cp $examples/lottery-batch.service $units
	systemctl daemon-reload
	systemctl start lottery-batch.service
	pid=$(systemctl show -P MainPID lottery-batch.service)
	# Type=simple: systemd does not wait for the command.
	until_true grep -x sleep "/proc/$pid/comm"
	lottery -p "$pid" | grep 'current tickets: 300$'
	lottery top -b -n 1 | grep "$pid"
	systemctl stop lottery-batch.service
}

wrais_runs_a_command() {
	wrais -- sh -c 'wrais --json -p $$' | grep '"privileged": *true'
	wrais off
	wrais -t -- sh -c 'wrais --json -p $$' | grep '"privileged": *false'
	wrais on
}

# The name of the card with that address.
card() {
	for dev in /sys/class/net/*; do
		if [ "$(cat "$dev/address")" = "$1" ]; then
			echo "${dev##*/}"
			return 0
		fi
	done
	return 1
}

rxmode_governs_any_driver() {
	dev=$(card 52:54:00:00:00:01)
	ip link set "$dev" up
	rxmode "$dev" mode auto limit 40
	rxmode "$dev" | grep -w auto
	rxmode "$dev" mode off
}

dkms_module_takes_a_card() {
	dev=$(card 52:54:00:00:00:02)
	pci=$(basename "$(readlink "/sys/class/net/$dev/device")")
	# Built, but not installed beside the same version of the kernel's own.
	insmod "/var/lib/dkms/napi_livelock/1.0/$(uname -r)/x86_64/module/napi_livelock.ko"
	echo "$pci" >"/sys/bus/pci/devices/$pci/driver/unbind"
	echo napi_livelock >"/sys/bus/pci/devices/$pci/driver_override"
	echo "$pci" >/sys/bus/pci/drivers_probe
	until_true card 52:54:00:00:00:02
	dev=$(card 52:54:00:00:00:02)
	rxmode "$dev" mode poll
	rxmode "$dev" | grep -w poll
}

instruments_measure() {
	ipclat -m pipe -k 1000 -n 3 -w 100
	udprate --loop --best-effort -r 1 -t 1
}

# Each program: its version, its text, its page.
every_program_has_its_page() {
	dpkg --listfiles who-waits-for-whom | grep '^/usr/bin/' >/run/programs
	test -s /run/programs
	while read -r program; do
		"$program" --version
		"$program" --help | grep Usage
		man --where "$(basename "$program")"
	done </run/programs
}

completion_knows_the_verbs() {
	bash -c '
		. /usr/share/bash-completion/bash_completion
		for program in lottery wrais rxmode ipclat udprate; do
			__load_completion $program
			complete -p $program || exit 1
		done
		COMP_WORDS=(wrais sta) COMP_CWORD=1 COMP_LINE="wrais sta" COMP_POINT=9
		_who_waits_for_whom wrais sta wrais
		echo "${COMPREPLY[@]}"' | grep -w stat
}

packages_are_removed() {
	version=$(uname -r)
	test "$(cat /proc/sys/kernel/wrais)" = 1
	test -e "/boot/efi/loader/entries/debian-$version.conf"
	dpkg --purge who-waits-for-whom napi-livelock-dkms
	test "$(cat /proc/sys/kernel/wrais)" = 0
	test ! -e /lib/systemd/system/wrais.service
	test ! -e /usr/bin/lottery
	test ! -e /usr/share/bash-completion/completions/wrais
	test ! -e /usr/src/napi_livelock-1.0
	test -z "$(dkms status)"
	modinfo -n napi_livelock | grep "^/lib/modules/$version/kernel/"
	test -z "$(find /etc/systemd/system -name 'wrais.service')"
	dpkg --purge "linux-headers-$version" "linux-image-$version"
	test ! -e "/boot/vmlinuz-$version"
	test ! -e "/boot/efi/loader/entries/debian-$version.conf"
	test ! -e "/lib/modules/$version/kernel"
	test ! -e "/usr/src/linux-headers-$version"
}

# A step is a shell of its own: in a condition of this one its failures would be ignored.
if [ $# = 1 ]; then
	set -eux
	"$1"
	exit
fi
sed -n 's/^\([a-z_]*\)() {$/\1/p' "$0" | while read -r name; do
	case $name in
	until_true | counter | card) continue ;;
	esac
	if sh "$0" "$name" >/run/said 2>&1 </dev/null; then
		echo "ok $name" >$result
	else
		sed 's/^/# /' /run/said >$result
		echo "not ok $name" >$result
	fi
done
echo end >$result

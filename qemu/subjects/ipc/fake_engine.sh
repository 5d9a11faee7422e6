#!/bin/sh -e
# SPDX-License-Identifier: GPL-2.0
#
# The part of podman's and docker's command lines that ipclat uses, by unshare(1).
# Called as fake_engine.sh STATE COMMAND WORD ...; STATE is a directory: `log` has a line
# for each call, `images` and `containers` a file for each that there is.

state=$1 verb=$2
shift 2
echo "$verb $*" >>"$state/log"
mkdir -p "$state/images" "$state/containers"

volumes='' rootfs=''
while [ "${1#--}" != "$1" ]; do
	word=$1 value=${1#*=}
	shift
	case $word in
	--rootfs) rootfs=yes ;;
	--rm | --read-only | --no-hosts | --force | *=*) ;;
	*) value=$1; shift ;;
	esac
	case $word in
	--name*) name=$value ;;
	--network*) network=$value ;;
	--volume*) volumes="$volumes $value" ;;
	esac
done

# The first process of a container, a child of unshare.
init_of() {
	read -r pid <"$state/containers/$1" 2>/dev/null &&
		cut -d' ' -f1 "/proc/$pid/task/$pid/children"
}

run() {
	root=$1
	shift
	if [ -z "$rootfs" ]; then
		[ -e "$state/images/$root" ]
		root=$state/roots/$name
		mkdir -p "$root"
	fi
	for volume in $volumes; do
		target=$root/$(echo "$volume" | cut -d: -f2)
		if [ -d "${volume%%:*}" ]; then mkdir -p "$target"; else : >"$target"; fi
	done
	set -- unshare --mount --ipc --uts --pid --fork --kill-child \
		"$0" "$state" inside "$root" "$volumes" "$@"
	case $network in
	none) shift; set -- unshare --net "$@" ;;
	*) set -- nsenter "--net=${network#ns:}" "$@" ;;
	esac
	"$@" &
	echo $! >"$state/containers/$name"
	wait $! || code=1
	rm "$state/containers/$name"
	exit "${code:-0}"
}

# What a container runs, in its namespaces.
inside() {
	root=$1 volumes=$2
	shift 2
	for volume in $volumes; do
		mount --bind "${volume%%:*}" "$root/$(echo "$volume" | cut -d: -f2)"
	done
	exec chroot "$root" "$@"
}

case $verb in
version) ;;
info) echo runc ;;
import) [ -z "$(tar tf "$1")" ] && : >"$state/images/$2" ;;
run | inside) "$verb" "$@" ;;
inspect) init_of "$1" ;;
rm) kill -9 "$(init_of "$1")" 2>/dev/null || : ;;
rmi) rm "$state/images/$1" ;;
*) exit 1 ;;
esac

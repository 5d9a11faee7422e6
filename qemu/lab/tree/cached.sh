#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A compiler of the kernel through ccache: cached.sh COMPILER ARGUMENT...
#
# Dependencies come from the compiler: without them ccache runs the preprocessor
# first, and a first build takes 1.4 times as long. They do not name what .incbin
# includes, so a source with .incbin is never cached: the compressed kernel comes
# into the boot image that way. A header is read once for all that include it.
#
# Paths below $(O) are relative to the build directory, so another checkout takes
# the objects of this one; -fmacro-prefix-map keeps __FILE__ as it is without ccache.
for source; do :; done
base=${PWD%/*}
case $source in
*.S) exec "$@" ;;
*/kernel/configs.c | */kernel/kheaders.c)
	# KASAN stores the name of the source: relative, as ccache gives the others.
	for argument; do
		shift
		case $argument in
		"$base"/*) argument=../${argument#"$base"/} ;;
		esac
		set -- "$@" "$argument"
	done
	exec "$@"
	;;
esac
unset CCACHE_NODEPEND
export CCACHE_DEPEND=1 CCACHE_INODECACHE=1 CCACHE_SLOPPINESS='' CCACHE_NAMESPACE=kernel-2
export CCACHE_BASEDIR="$base"
exec ccache "$@" -fmacro-prefix-map=../linux/=

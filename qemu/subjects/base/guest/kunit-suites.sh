# SPDX-License-Identifier: GPL-2.0
# Name: kunit-suites
# What: every suite of unit tests in this kernel is one of the arguments, whose results are read
# Needs: nothing

for suite in /sys/kernel/debug/kunit/*; do
	case " $* " in
	*" ${suite##*/} "*) ;;
	*) exit 1 ;;
	esac
done

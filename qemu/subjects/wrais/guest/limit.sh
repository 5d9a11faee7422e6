# SPDX-License-Identifier: GPL-2.0
# Name: limit
# What: a start that is ended at the limit is reported, and is no success
# Needs: nothing
# Debug: no

run="wrais-run --disk loop0 --dir /tmp -r 0 -w 0 --limit 1 --repeats 2"

# The last of the starts ends, the first does not: one is enough to fail.
echo '[ -e /tmp/second ] || { touch /tmp/second; exec sleep 600; }' >/tmp/first-hangs
rm -f /tmp/second
status=0
$run -- sh /tmp/first-hangs >/tmp/rows 2>/tmp/said || status=$?
cat /tmp/rows /tmp/said
[ $status -eq 1 ]
[ "$(grep -c '"finished":false' /tmp/rows)" -eq 1 ]
[ "$(grep -c '"finished":true' /tmp/rows)" -eq 1 ]
[ "$(cat /tmp/said)" = 'wrais-run: repeat 1 does not end within 1 s' ]

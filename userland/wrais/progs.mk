# The privileged I/O tool, what measures it, its tests, and the parts of each in addition to
# its own file.

programs += $(addprefix wrais/,lprobe wrais wrais-pgbench wrais-run wrais-sqlite)
tests += $(addprefix wrais/tests/,wrais-disk wrais-crash)

lprobe-parts := probe app app_engine
wrais-parts := control privilege stalls verb_stalls verb_stat
wrais-run-parts := control load probe app app_engine run_options run_setup run_groups run_trace
wrais-pgbench-parts := times
wrais-sqlite-parts := no_dlopen times

# the real library, from the distribution
wrais-sqlite-libs := -Wl,--wrap=dlopen -lsqlite3

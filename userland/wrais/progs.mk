# SPDX-License-Identifier: GPL-2.0
# The privileged I/O tool, its suite, and what each is made of beside its own file.

programs += $(addprefix wrais/,lprobe wrais wrais-load wrais-run wrais-sqlite \
	wrais-api wrais-disk wrais-crash wrais-safety)

lprobe-parts := probe
wrais-parts := control privilege stalls verb_stalls verb_stat
wrais-api-parts := api_common api_refuse api_cgroup api_present api_effect \
	control privilege validate
wrais-load-parts := load
wrais-run-parts := control load probe run_options run_setup run_trace
wrais-safety-parts := safety_disk safety_tasks safety_limits safety_disruptions safety_ends \
	control privilege validate

# the real library, from the distribution
wrais-sqlite-libs := -Wl,--wrap=dlopen -lsqlite3

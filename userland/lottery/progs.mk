# SPDX-License-Identifier: GPL-2.0
# The lottery tool, its validators, and what each is made of beside its own file.

programs += $(addprefix lottery/,lottery lottery-fair lottery-scale lottery-share \
	lottery-pipe lottery-floor lottery-api lottery-smp lottery-torture)

lottery-fair-parts := race
lottery-share-parts := share_cases share_report race
lottery-api-parts := api_common api_refuse api_accept api_inherit api_effect api_boost api_proc
lottery-smp-parts := smp_common smp_balance smp_affinity smp_hotplug
lottery-torture-parts := torture_boss torture_group torture_plug torture_worker

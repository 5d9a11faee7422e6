// SPDX-License-Identifier: GPL-2.0
/* run_counts.c - livelock-run: what the kernel has counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "procfs.h"
#include "run.h"

#define TEXT_MAX	4096

/* The value of @name of @group in /proc/net/snmp: a line of names, one of values. */
static u64 snmp(const char *text, const char *group, const char *name)
{
	char names[TEXT_MAX], values[TEXT_MAX], form[64], *at, *value_at, *word, *value;

	snprintf(form, sizeof(form), "%s: %%%d[^\n]\n%s: %%%d[^\n]", group, TEXT_MAX - 1, group,
		 TEXT_MAX - 1);
	snprintf(names, sizeof(names), "%s:", group);
	text = strstr(text, names);
	if (!text || sscanf(text, form, names, values) != 2)
		return 0;
	word = strtok_r(names, " ", &at);
	value = strtok_r(values, " ", &value_at);
	while (word && value && strcmp(word, name)) {
		word = strtok_r(NULL, " ", &at);
		value = strtok_r(NULL, " ", &value_at);
	}
	return word && value ? strtoull(value, NULL, 10) : 0;
}

static u64 truncated_packets(void)
{
	char text[TEXT_MAX];

	if (read_text("/proc/net/netstat", text, sizeof(text)) < 0)
		die(EXIT_UNSUPPORTED, "/proc/net/netstat cannot be read: CONFIG_PROC_FS");
	return snmp(text, "IpExt", "InTruncatedPkts");
}

/* A full socket counts as an error of UDP as well, but is counted elsewhere. */
static u64 bad_packets(void)
{
	static const char *const ip[] = {
		"InHdrErrors", "InAddrErrors", "InUnknownProtos", "InDiscards", NULL
	};
	char text[TEXT_MAX];
	unsigned int i;
	u64 sum;

	if (read_text("/proc/net/snmp", text, sizeof(text)) < 0)
		die(EXIT_UNSUPPORTED, "/proc/net/snmp cannot be read: CONFIG_PROC_FS");
	sum = snmp(text, "Udp", "InErrors") - snmp(text, "Udp", "RcvbufErrors") +
		snmp(text, "Udp", "NoPorts") + truncated_packets();
	for (i = 0; ip[i]; i++)
		sum += snmp(text, "Ip", ip[i]);
	return sum;
}

/* Position @i of the counters; those of further cards are added up there. */
static void add_stat(struct kernel_counts *counts, unsigned int i, const char *name, u64 value)
{
	if (i >= RUN_STATS)
		return;
	if (counts->stats <= i) {
		snprintf(counts->stat[i].name, sizeof(counts->stat[i].name), "%.31s", name);
		counts->stats = i + 1;
	}
	counts->stat[i].value += value;
}

/* The driver's own. Returns how many. */
static unsigned int add_driver(const struct nic *nic, struct kernel_counts *counts)
{
	struct nic_stat stat[RUN_STATS];
	int count = nic_stats(nic, stat, RUN_STATS), i;

	for (i = 0; i < count; i++) {
		if (!strcmp(stat[i].name, "no_buffer"))
			counts->dropped += stat[i].value;
		add_stat(counts, (unsigned int)i, stat[i].name, stat[i].value);
	}
	return count < 0 ? 0 : (unsigned int)count;
}

/* The governor's, from position @i on; a kernel without it has none. */
static void add_governor(const struct nic *nic, struct kernel_counts *counts, unsigned int i)
{
	char path[128], text[TEXT_MAX], *rest = text, *line;

	snprintf(path, sizeof(path), "/sys/class/net/%s/governor/stats", nic->name);
	if (read_text(path, text, sizeof(text)) < 0)
		return;
	while ((line = strsep(&rest, "\n"))) {
		char name[32], word[20];
		unsigned long long value;

		if (sscanf(line, "%19s %llu", word, &value) != 2)
			continue;
		if (!strcmp(word, "switches"))
			counts->switches += value;
		if (!strcmp(word, "dropped"))
			counts->early += value;
		snprintf(name, sizeof(name), "governor_%s", word);
		add_stat(counts, i++, name, value);
	}
}

/* The driver's own first: the in-tree driver looks at its registers only then. */
struct kernel_counts run_counts(const struct run *run)
{
	struct kernel_counts counts = { };
	unsigned int i;

	for (i = 0; i < run->options->ports; i++) {
		add_governor(&run->receiver[i], &counts, add_driver(&run->receiver[i], &counts));
		counts.dropped += nic_counter(&run->receiver[i], "rx_errors");
		counts.stack_in += nic_counter(&run->receiver[i], "rx_packets");
	}
	if (softnet_sum(1, &counts.backlog))
		die(EXIT_UNSUPPORTED, "/proc/net/softnet_stat cannot be read: CONFIG_PROC_FS");
	counts.other = bad_packets();
	return counts;
}

// SPDX-License-Identifier: GPL-2.0
/* validate.c - what tests of privileged I/O read, and what they put back. */
#include "control.h"
#include "validate.h"

#define SAVED_MAX	32U

static struct {
	const char *name;
	u64 value;
} saved[SAVED_MAX];

static unsigned int nr_saved;

static void save_one(const char *name)
{
	u64 value;

	if (wrais_get(name, &value))
		return;
	saved[nr_saved].name = name;
	saved[nr_saved++].value = value;
}

void wrais_save(void)
{
	unsigned int i;

	nr_saved = 0;
	save_one(WRAIS_MASTER);
	for (i = 0; wrais_parts[i]; i++)
		save_one(wrais_parts[i]);
	for (i = 0; i < wrais_nr_knobs; i++)
		save_one(wrais_knobs[i].name);
}

void wrais_restore(void)
{
	unsigned int i;

	for (i = 0; i < nr_saved; i++)
		wrais_set(saved[i].name, saved[i].value);
}

u64 counter_now(struct ktap_case *t, const char *name)
{
	struct wrais_stats stats;
	u64 value = 0;

	wrais_read(&stats);
	expect(t, wrais_find(&stats, name, &value), WRAIS_STAT " has no %s", name);
	return value;
}

// SPDX-License-Identifier: GPL-2.0
/* keep.c - all switches and knobs of privileged I/O as they were, to put them back. */
#include "control.h"
#include "keep.h"

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

// SPDX-License-Identifier: GPL-2.0
/* top_json.c - lottery top: a look as one line of JSON. */
#include <math.h>

#include "clock.h"
#include "json.h"
#include "top.h"

/* A number, or null where it is unknown. */
static void put_real(const char *key, bool known, double value)
{
	json_real(key, known ? value : NAN);
}

static void put_cpu(const struct lottery_cpu *now, double draws_s)
{
	json_object(NULL);
	json_number("cpu", now->cpu);
	json_number("tasks", now->tasks);
	json_number("tickets", now->tickets);
	json_real("draws_per_s", draws_s);
	json_end();
}

static void put_task(const struct top_look *look, const struct top_task *t)
{
	json_object(NULL);
	json_number("pid", (u64)t->tid);
	json_text("comm", t->name);
	json_number("cpu", t->cpu);
	json_text("state", (char []){ t->state, '\0' });
	json_number("tickets", t->tickets);
	if (!look->recorded) {
		json_bool("derived", t->derived);
		json_number("quantum_ns", t->quantum_ns);
	}
	json_number("worth", t->worth);
	put_real("due_pct", look->due_known && t->wanted, 100 * t->due);
	put_real("got_pct", t->known, 100 * t->got);
	put_real("runs_per_s", t->known && t->runs, t->runs_s);
	json_end();
}

void top_json(struct top_look *look, const struct top_look *before, enum top_sort sort)
{
	unsigned int i;
	size_t n;

	top_sort(look, sort);
	json_open();
	json_real("seconds", top_seconds(look, before));
	json_list("cpus");
	for (i = 0; i < look->state.cpus; i++)
		put_cpu(&look->state.cpu[i], top_draws(look, before, &look->state.cpu[i]));
	json_end();
	json_list("tasks");
	for (n = 0; n < look->count; n++)
		put_task(look, &look->task[n]);
	json_end();
	json_close();
}

/* SPDX-License-Identifier: GPL-2.0 */
/* currency.h - lottery-currency: cgroups and processes as currencies. */
#ifndef LOTTERY_CURRENCY_H
#define LOTTERY_CURRENCY_H

#include "cgroup.h"
#include "stage.h"

struct group {
	char *path;		/* until it is closed */
};

/* Within @parent, or the root if that is NULL; backed by @tickets, 0 for no currency. */
void group_open(struct ktap_case *t, struct group *g, const struct group *parent,
		const char *name, u32 tickets);
void group_close(struct ktap_case *t, const struct group *g);
void group_back(struct ktap_case *t, const struct group *g, u32 tickets);
/* Actor @i into @g, or into the root if that is NULL. */
void group_move(struct ktap_case *t, const struct group *g, const struct stage *s,
		unsigned int i);

/* All actors spin. */
void all_spin(struct ktap_case *t, struct stage *s);
/* Another number of tickets for actor @i; the launcher is privileged. */
void give(struct ktap_case *t, const struct stage *s, unsigned int i, u32 tickets);

#define CURRENCY_GROUPS	4U
void currency_refusals(struct ktap *k);
void currency_values(struct ktap *k);
void currency_changes(struct ktap *k);
void currency_processes(struct ktap *k);

#endif /* LOTTERY_CURRENCY_H */

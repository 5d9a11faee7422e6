/* SPDX-License-Identifier: GPL-2.0 */
/* load.h - CPU-bound company for what is measured. */
#ifndef LAB_LOAD_H
#define LAB_LOAD_H

#include "crew.h"

#define HOGS_MAX	64U

/*
 * Start @hogs children, if any, that compute all the time: as SCHED_OTHER or, if
 * @tickets is not 0, each as a lottery task with so many tickets; then the caller
 * becomes SCHED_FIFO, or it could not end them. Exits where that is not to be had.
 */
void load_start(struct crew *crew, u32 hogs, u32 tickets);

/* End them. */
void load_stop(struct crew *crew);

#endif /* LAB_LOAD_H */

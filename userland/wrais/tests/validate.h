/* SPDX-License-Identifier: GPL-2.0 */
/* validate.h - what tests of privileged I/O read, and what they put back. */
#ifndef WRAIS_VALIDATE_H
#define WRAIS_VALIDATE_H

#include "ktap.h"
#include "types.h"

/*
 * Remember all switches and knobs, to put them back; those that this kernel was
 * built without are left out.
 */
void wrais_save(void);
void wrais_restore(void);

/* The value of a counter; fails the test when there is none. */
u64 counter_now(struct ktap_case *t, const char *name);

#endif /* WRAIS_VALIDATE_H */

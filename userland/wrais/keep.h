/* SPDX-License-Identifier: GPL-2.0 */
/* keep.h - all switches and knobs of privileged I/O as they were, to put them back. */
#ifndef WRAIS_KEEP_H
#define WRAIS_KEEP_H

/* Remember them; those that this kernel was built without are left out. */
void wrais_save(void);
void wrais_restore(void);

#endif /* WRAIS_KEEP_H */

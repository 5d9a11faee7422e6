/* SPDX-License-Identifier: GPL-2.0 */
/* kmod.h - the loadable modules of the lab's guest. */
#ifndef LAB_KMOD_H
#define LAB_KMOD_H

#include "protocol.h"

/*
 * Load MODULE_DIR/@name.ko with @params ("name=value ..."). 0 or -errno: -ENOENT
 * when the guest does not have it, -EEXIST when it is loaded already.
 */
int module_load(const char *name, const char *params);

/* Unload it. 0 or -errno: -EAGAIN while it is in use, -ENOENT when it is not there. */
int module_unload(const char *name);

#endif /* LAB_KMOD_H */

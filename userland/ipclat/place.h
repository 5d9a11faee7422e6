/* SPDX-License-Identifier: GPL-2.0 */
/* place.h - which CPUs the two sides run on. */
#ifndef IPCLAT_PLACE_H
#define IPCLAT_PLACE_H

#include "mechanism.h"

/* What --cpus may say, for usage texts. */
#define CPUS_FORMS	"A,B or same-core, sibling, cross-core, numa"

/*
 * "0,1" (the sender's, the receiver's) or a relation that the first two allowed CPUs have
 * that are so related. Exits with EXIT_USAGE for anything else and for a CPU that is
 * not allowed, with EXIT_UNSUPPORTED when no two CPUs are so related.
 */
void place_sides(const char *text, s32 *cpu);

/* The first two that are allowed; exits with EXIT_UNSUPPORTED when there is one. */
void place_first_two(s32 *cpu);

#endif /* IPCLAT_PLACE_H */

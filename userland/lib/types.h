/* SPDX-License-Identifier: GPL-2.0 */
/* types.h - the kernel's short integer names and a few constants. */
#ifndef LAB_TYPES_H
#define LAB_TYPES_H

#include <assert.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;

#define NSEC_PER_USEC	1000ULL
#define NSEC_PER_MSEC	1000000ULL
#define NSEC_PER_SEC	1000000000ULL

#define BIT_ULL(n)	(1ULL << (n))

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define attribute(...)	__attribute__((__VA_ARGS__))
#define __printf(a, b)	attribute(__format__(printf, a, b))
#define __noreturn	attribute(__noreturn__)
#define __packed	attribute(__packed__)
#define __aligned(x)	attribute(__aligned__(x))

#endif /* LAB_TYPES_H */

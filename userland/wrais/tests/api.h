/* SPDX-License-Identifier: GPL-2.0 */
/* api.h - wrais-api: what the interfaces of privileged I/O refuse, take and do. */
#ifndef WRAIS_API_H
#define WRAIS_API_H

#include "control.h"
#include "ioprio.h"
#include "ktap.h"
#include "types.h"

/* For a child to do a small thing: far above what a slow machine needs. */
#define API_WAIT_NS	(60 * NSEC_PER_SEC)

/* The cgroups that the tests make. */
#define API_GROUP	"wrais-api"
#define API_CHILD	API_GROUP "/child"

struct api {
	const char *disk;	/* in /sys/block; read only */
	const char *name;	/* what the test is about, in a table of names */
};

extern struct api api;

/* api_common.c */

/* Ways not to be privileged. */
enum drop {
	DROP_CAPABILITY,	/* root without CAP_SYS_ADMIN and CAP_SYS_NICE */
	DROP_USER,		/* nobody */
	DROP_NAMESPACE,		/* nobody, who is root in a user namespace */
	DROPS,
};

extern const char *const drop_names[];

/*
 * What @fn returned (0 or -errno) in a child that has given up its privileges;
 * API_LOST when the child did not come that far, API_CANNOT when this kernel
 * has no such way.
 */
#define API_LOST	1000
#define API_CANNOT	1001
int unprivileged(enum drop how, int (*fn)(const void *arg), const void *arg);

/* Fail the test unless @fn gets one of the two errors, whoever tries it. */
void expect_refusal(struct ktap_case *t, enum drop how, int (*fn)(const void *arg),
		    const void *arg, int error, int other);

/* Run @run as a test for each name, which is in api.name then. */
void api_each(struct ktap *parent, const char *group, const char *const *names,
	      unsigned int count, void (*run)(struct ktap_case *t));

/* A switch or knob; fails the test and returns ~0 when it cannot be read. */
u64 value_now(struct ktap_case *t, const char *name);

/* api_cgroup.c */

/* Make API_GROUP and API_CHILD; false when there is no I/O controller. */
bool groups_make(void);
void groups_remove(void);
int group_set(const char *group, const char *text);
int group_get(const char *group, u64 *value);

/* The groups of tests, each a subtest of @k. */
void api_priority(struct ktap *k);	/* api_refuse.c */
void api_bad_values(struct ktap *k);
void api_sysctl_users(struct ktap *k);
void api_cgroup(struct ktap *k);	/* api_cgroup.c */
void api_switches(struct ktap *k);	/* api_present.c */
void api_knobs(struct ktap *k);
void api_counters(struct ktap *k);
void api_proc(struct ktap *k);
void api_effects(struct ktap *k);	/* api_effect.c */
#define API_GROUPS	9U

#endif /* WRAIS_API_H */

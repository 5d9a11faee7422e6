/* SPDX-License-Identifier: GPL-2.0 */
/*
 * safety.h - wrais-safety: what privileged I/O must not break, on a disk of
 * its own that can be filled, frozen, unmounted and taken away.
 */
#ifndef WRAIS_SAFETY_H
#define WRAIS_SAFETY_H

#include <limits.h>

#include "control.h"
#include "crew.h"
#include "diskfile.h"
#include "ktap.h"
#include "types.h"

struct safety {
	const char *dir;	/* where the disk is mounted */
	struct wrais_choice parts;	/* switched on while a case runs */
	bool brief;		/* smaller limits and fewer rounds, for a slow kernel */
	u64 limit_ns;		/* how long a case may take */
	u64 deadline_ns;	/* of the case that runs */
};

extern struct safety safety;

/* How long the case that runs may still wait; enough to put things back behind it. */
u64 safety_left_ns(void);

/* safety_disk.c: a memory-backed null_blk with a file system. */

#define SAFETY_DISK	"wrais-safety"

/* Exits with EXIT_UNSUPPORTED unless this kernel has such disks. */
void disk_require(void);

/*
 * A fresh disk of @mib MiB that moves @mbps MB/s, with ext4 on it, below bfq,
 * mounted with @options. Exits with EXIT_FAILED when it cannot be had.
 */
void disk_make(u32 mib, u32 mbps, const char *options);

/* Another one beside it, of the same kind; its directory. Both go with disk_drop(). */
void disk_make_second(u32 mib, u32 mbps);
void disk_dir(char path[PATH_MAX], bool second);

/* An attribute below /sys/block/DISK; 0 or -errno. */
int disk_set(const char *name, const char *text);

/* What follows returns 0 or -errno; -ETIMEDOUT when it does not come back. */
int disk_mount(const char *options);
int disk_remount(bool read_only);
int disk_unmount(void);
int disk_freeze(bool frozen);
int disk_power(bool on);

/* Fail the test unless the unmounted file system is consistent. */
void disk_expect_clean(struct ktap_case *t);

/* Bytes that have been written; exits with EXIT_FAILED when nobody knows. */
u64 disk_written(void);

/* Take it away for good, with what it holds and what is still to be written to it. */
void disk_drop(void);

/* safety_tasks.c: who uses the disk. */

enum role {
	ROLE_FILL,		/* append for ever */
	ROLE_WRITE,		/* the same, giving the oldest blocks back */
	ROLE_ALLOCATE,		/* take blocks for a file and give them back, without data */
	ROLE_SYNC,		/* append a page, fsync, again and again */
	ROLE_READ,		/* read a file that is no longer in memory */
	ROLE_REQUEST,		/* the same, with requests of the real-time class */
	ROLE_WRITE_BACK,	/* have what is dirty in a file written, and do not wait */
};

#define TASKS_MAX	8U

struct task {
	enum role role;
	bool privileged;
	bool thinks;		/* half a millisecond before each read */
	const char *group;	/* a cgroup to join, NULL: none */
	bool second;		/* it uses the second disk */
	const char *path;	/* what it uses in place of a file of its own, NULL: nothing */
	const char *image;	/* of what file that is made, which is in memory, too; NULL: none */
};

/* Such a task, on the first disk. */
#define PRIVILEGED(name)	{ .role = ROLE_##name, .privileged = true }
#define OTHERS(name)		{ .role = ROLE_##name }

/*
 * Of a slot of the crew: rounds, value (bytes moved, or of ROLE_SYNC the longest
 * fsync in ns) and mark (the error number that has ended it).
 */
void tasks_start(struct crew *crew, const struct task *tasks, unsigned int count);

/* Remove the files of so many tasks; how many were not there. */
unsigned int tasks_clean(unsigned int count);

/* Each of them, or task @i, has done so many rounds more; fails the test otherwise. */
void tasks_advance(struct ktap_case *t, struct crew *crew, u64 rounds);
void task_advance(struct ktap_case *t, struct crew *crew, unsigned int i, u64 rounds);

/* Bytes that they have moved; of ROLE_SYNC nothing is known. */
u64 tasks_bytes(const struct crew *crew);

/* They end by themselves with one of two errors; fails the test otherwise. */
void tasks_expect_error(struct ktap_case *t, struct crew *crew, int error, int other);

/* Ask them to end; fails the test when they do not, or had an error. */
void tasks_stop(struct ktap_case *t, struct crew *crew);

/* safety_limits.c */

#define VMSTAT		"/proc/vmstat"

/* Of the line "name value" or "name: value" of a file; exits when it has none. */
u64 value_of(const char *path, const char *name);

/* Half of what is left, up to what is enough; and a task of @group (NULL: none) has it. */
u64 memory_to_have(void);
void expect_memory(struct ktap_case *t, const char *group, u64 size);

void case_headroom(struct ktap_case *t);
void case_shared_headroom(struct ktap_case *t);
void case_fsync(struct ktap_case *t);
void case_memory(struct ktap_case *t);
void case_memory_cgroup(struct ktap_case *t);

/* safety_disruptions.c */
void case_space(struct ktap_case *t);
void case_space_journal(struct ktap_case *t);
void case_freeze(struct ktap_case *t);
void case_unmount(struct ktap_case *t);
void case_removal(struct ktap_case *t);

/* safety_devices.c */

/* A disk of its own, few dirty pages, and a floor that is due soon. */
void devices_prepare(u32 mbps);

/* What each task has done for a while, once all have begun. */
void watch_each(struct ktap_case *t, struct crew *crew, u64 *done);

/* A bound: fail the test unless it is @kept. */
void expect_share(struct ktap_case *t, bool kept, const char *whose, u64 done, u64 of);

#define LOOP_PATH_MAX	32U

/*
 * An image on the first disk, and a loop device over it, which reads it directly or
 * through the page cache. The path, and a descriptor that keeps the device.
 */
int loop_make(char path[LOOP_PATH_MAX], bool direct);
void loop_image(char file[PATH_MAX]);

void case_strict_limit(struct ktap_case *t);
void case_slow_disk(struct ktap_case *t);
void case_other_disk(struct ktap_case *t);
void case_loop(struct ktap_case *t);
void case_commit(struct ktap_case *t);
void case_writer(struct ktap_case *t);
void case_pair(struct ktap_case *t);

/* safety_carriers.c */
void case_worker(struct ktap_case *t);
void case_request(struct ktap_case *t);
void case_metadata(struct ktap_case *t);
void case_handle(struct ktap_case *t);
void case_tag(struct ktap_case *t);

/* safety_fuse.c */
void case_stalled_fuse(struct ktap_case *t);

/* safety_groups.c */
void case_class_in_group(struct ktap_case *t);
void case_group(struct ktap_case *t);

/* safety_ends.c */
void case_killed(struct ktap_case *t);
void case_switches(struct ktap_case *t);

/* wrais-safety.c */

/* A number of vm.*, put back at the end; exits with EXIT_FAILED. */
void vm_set(const char *name, u64 value);

/* No part is switched on: who claims to be privileged is not. */
bool all_off(void);

#endif /* WRAIS_SAFETY_H */

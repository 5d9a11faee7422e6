// SPDX-License-Identifier: GPL-2.0
/* wrais-safety.c - what privileged I/O must not break. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "opts.h"
#include "procfs.h"
#include "safety.h"
#include "validate.h"

#define VM		"/proc/sys/vm"

/* Of a case: several times what a slow machine needs. */
#define LIMIT_S		100U
#define LIMIT_MAX_S	3600U
/* To end tasks, and to take the disk away, of a case that has used up its time. */
#define PUT_BACK_NS	(10 * NSEC_PER_SEC)

struct safety safety;

/* Last is what may take the whole machine along when it fails. */
static const struct ktap_test cases[] = {
	{ "headroom", case_headroom },
	{ "shared-headroom", case_shared_headroom },
	{ "fsync", case_fsync },
	{ "strict-limit", case_strict_limit },
	{ "stalled-fuse", case_stalled_fuse },
	{ "slow-disk", case_slow_disk },
	{ "other-disk", case_other_disk },
	{ "loop", case_loop },
	{ "commit", case_commit },
	{ "writer", case_writer },
	{ "pair", case_pair },
	{ "worker", case_worker },
	{ "request", case_request },
	{ "metadata", case_metadata },
	{ "handle", case_handle },
	{ "tag", case_tag },
	{ "class-in-group", case_class_in_group },
	{ "group", case_group },
	{ "space", case_space },
	{ "space-journal", case_space_journal },
	{ "freeze", case_freeze },
	{ "unmount", case_unmount },
	{ "removal", case_removal },
	{ "killed", case_killed },
	{ "switches", case_switches },
	{ "memory-cgroup", case_memory_cgroup },
	{ "memory", case_memory },
};

static void take_parts(const struct opt *row, const char *text)
{
	safety.parts = wrais_choose(row->name, text);
}

static const struct opt rows[] = {
	OPT('d', "--dir", "DIR", TEXT(safety.dir, "/run/wrais-safety"),
	    "where the disk is mounted (%d)"),
	OPT(0, "--wrais", "PARTS", CALL(take_parts),
	    "which parts are on, as of wrais-run (%d); with none the same\n"
	    "tests show what the kernel does without", .text = "all"),
	OPT(0, "--brief", NULL, FLAG(safety.brief),
	    "smaller limits and fewer rounds, for a slow kernel"),
	OPT(0, "--limit", "SECONDS",
	    SCALED(safety.limit_ns, 1, LIMIT_MAX_S, LIMIT_S, NSEC_PER_SEC),
	    "a case that takes longer has failed (%d)"),
	KTAP_OPT,
	{ }
};

static const struct opts opts = {
	.usage =
"Usage: wrais-safety [options] [CASE...]\n"
"\n"
"Test what privileged I/O must not break, on a disk in memory that is made for it\n"
"(24 or 128 MiB with ext4, some cases make two, in a mount namespace of its own;\n"
"nothing else is written to): the bounds of what a privileged task takes, and a disk\n"
"that is full, frozen, unmounted or gone under privileged and other tasks. Where the\n"
"part floor is off a privileged reader pauses for 20 ms before each read, for nothing\n"
"else keeps it from starving the others. The output is KTAP. Switches, numbers and\n"
"vm.dirty_* are put back at the end. Cases (all):\n"
"\n"
"  headroom, shared-headroom   dirty memory stays below vm.dirty_bytes and the\n"
"                              headroom, which one writer or three use up\n"
"  fsync                       the others' fsync ends within two of the floor's\n"
"                              windows, beside privileged writers and a reader\n"
"  strict-limit                a device with a limit of its own (BDI_CAP_STRICTLIMIT)\n"
"                              keeps it under a privileged writer\n"
"  stalled-fuse                the same of a file system in user space whose server has\n"
"                              stopped to answer; others get on, and have memory\n"
"  slow-disk                   privileged writers on a slow disk that has more than its\n"
"                              share wait as others do, so that other disks have theirs\n"
"  other-disk                  nobody is held on a disk that nobody privileged uses\n"
"  loop                        who waits on another disk does not help a loop device\n"
"  commit                      a privileged fsync ends soon beside privileged readers\n"
"  writer                      the others have 5 % beside a privileged writer\n"
"  pair                        who reads is not kept waiting by who syncs, if both are\n"
"                              privileged\n"
"  worker                      what a kernel thread reads for a privileged task goes first\n"
"  request                     and single requests (AIO) that have the real-time class\n"
"  metadata                    and so do metadata that a privileged task waits to change\n"
"  handle                      and, in part, those that others wait for within a\n"
"                              transaction\n"
"  tag                         and writeback, where somebody waits within one until\n"
"                              some of it is done\n"
"  class-in-group, group       a privileged task of a light group goes before those of\n"
"                              a heavy one, by its I/O class and by io.wrais\n"
"  space, space-journal        no space left: every writer is told (ENOSPC); with\n"
"                              space again all is well, and e2fsck finds nothing\n"
"  freeze                      under load; nothing is written while it is frozen\n"
"  unmount                     refused while it is used, possible afterwards\n"
"  removal                     every task that uses the disk gets an error and ends;\n"
"                              when it is back, the journal is replayed\n"
"  killed                      no request is raised for a task that is dead\n"
"  switches                    the parts are switched while they are in use\n"
"  memory-cgroup, memory       others get memory beside privileged writers, and none is\n"
"                              killed for it; these can take the machine along\n"
"\n",
	.rows = rows,
	.tail = TEST_TAIL,
	.operands = OPERANDS_ANY,
};

/* The numbers in the order in which they are put back: 0 leaves the other's. */
static struct {
	const char *name;
	u64 value;
	bool saved;
} limits[] = {
	{ .name = "dirty_ratio" }, { .name = "dirty_background_ratio" },
	{ .name = "dirty_bytes" }, { .name = "dirty_background_bytes" },
};

static int vm_write(const char *name, u64 value)
{
	char path[128], text[32];

	snprintf(path, sizeof(path), VM "/%s", name);
	snprintf(text, sizeof(text), "%llu", value);
	return write_text(path, text);
}

void vm_set(const char *name, u64 value)
{
	int error = vm_write(name, value);

	if (error)
		die(EXIT_FAILED, "vm.%s: %llu: %s", name, value, strerror(-error));
}

static void vm_save(void)
{
	char path[128];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		snprintf(path, sizeof(path), VM "/%s", limits[i].name);
		limits[i].saved = !read_number(path, &limits[i].value) && limits[i].value;
	}
}

static void vm_restore(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(limits); i++)
		if (limits[i].saved)
			vm_write(limits[i].name, limits[i].value);
}

u64 safety_left_ns(void)
{
	u64 now = now_ns();

	if (now + PUT_BACK_NS > safety.deadline_ns)
		return PUT_BACK_NS;
	return safety.deadline_ns - now;
}

bool all_off(void)
{
	return !safety.parts.any;
}

/* Exits with EXIT_USAGE when there is none of that name. */
static const struct ktap_test *find_case(const char *name)
{
	const char *names[ARRAY_SIZE(cases) + 1] = { };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		names[i] = cases[i].name;
	return &cases[args_choice("case", name, names)];
}

/* Everything as it was before, whatever the case has left. */
static void run_case(struct ktap *k, const struct ktap_test *test)
{
	safety.deadline_ns = now_ns() + safety.limit_ns;
	wrais_apply(&safety.parts);
	ktap_run(k, test);
	disk_drop();
	wrais_restore();
	vm_restore();
}

int main(int argc, char **argv)
{
	struct ktap k;
	int i;

	args_init("wrais-safety");
	opts_parse(&opts, argc, argv);
	for (i = optind; i < argc; i++)
		find_case(argv[i]);
	wrais_require();
	disk_require();
	if (geteuid())
		die(EXIT_FAILED, "be root: disks are made and taken away");
	wrais_check(&safety.parts);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		die(EXIT_FAILED, "no mount namespace: %s", strerror(errno));
	wrais_save();
	vm_save();
	if (optind == argc) {
		ktap_start(&k, ARRAY_SIZE(cases));
		for (i = 0; i < (int)ARRAY_SIZE(cases); i++)
			run_case(&k, &cases[i]);
	} else {
		ktap_start(&k, (unsigned int)(argc - optind));
		for (i = optind; i < argc; i++)
			run_case(&k, find_case(argv[i]));
	}
	return ktap_finish(&k);
}

// SPDX-License-Identifier: GPL-2.0
/* api_proc.c - lottery-api: /proc/sched_lottery and the sysctl. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "args.h"
#include "clock.h"
#include "procfs.h"

/* Read from @fd on, at most @chunk bytes at a time; false on error. */
static bool read_in_chunks(int fd, char *text, size_t chunk)
{
	size_t used = 0;
	ssize_t got;

	do {
		if (used + chunk >= LOTTERY_PROC_SIZE)
			return false;
		got = read(fd, text + used, chunk);
		if (got > 0)
			used += (size_t)got;
	} while (got > 0);
	text[used] = '\0';
	return got == 0;
}

/* Parse, and fail the test when that cannot be done. */
static bool parses(struct ktap_case *t, const char *text, struct lottery_state *state)
{
	const char *wrong = lottery_parse(text, state);

	return expect(t, !wrong, "%s", wrong ? wrong : "");
}

static void has_its_form(struct ktap_case *t)
{
	struct lottery_state state;
	char text[LOTTERY_PROC_SIZE];
	unsigned int i;
	int length = read_text(LOTTERY_PROC, text, sizeof(text));

	if (!expect(t, length > 0, "cannot read it: %s", strerror(-length)) ||
	    !parses(t, text, &state))
		return;
	for (i = 0; i < state.cpus; i++) {
		const char *pool = state.cpu[i].pool;

		expect(t, !strcmp(pool, "list") || !strcmp(pool, "rbtree") ||
		       !strcmp(pool, "sums"), "cpu %u has the pool '%s'", state.cpu[i].cpu, pool);
		expect(t, !strcmp(pool, state.cpu[0].pool), "CPUs have different pools");
	}
	expect(t, lottery_find(&state, api.cpu), "no line for CPU %u", api.cpu);
}

/* What the boot parameter asks for is what is used. */
static void pool_of_command_line(struct ktap_case *t)
{
	static const char option[] = "lottery_pool=";
	struct lottery_state state;
	char text[4096];
	char *asked;

	if (read_text("/proc/cmdline", text, sizeof(text)) < 0)
		text[0] = '\0';
	asked = strstr(text, option);
	if (!asked) {
		skip_test(t, "no lottery_pool= on the kernel command line");
		return;
	}
	asked += strlen(option);
	asked[strcspn(asked, "\n ")] = '\0';
	lottery_read(&state);
	expect(t, !strcmp(state.cpu[0].pool, asked), "asked for the pool '%s', got '%s'",
	       asked, state.cpu[0].pool);
}

static void read_for_ever(struct ktap_case *t)
{
	struct lottery_state state;
	char text[LOTTERY_PROC_SIZE];
	u64 i;

	for (i = 0; i < api.reads; i++) {
		int length = read_text(LOTTERY_PROC, text, sizeof(text));

		if (!expect(t, length > 0, "read %llu: %s", i, strerror(-length)) ||
		    !parses(t, text, &state))
			return;
	}
	ktap_note(t->ktap, "%llu reads", api.reads);
}

static void read_in_bytes(struct ktap_case *t)
{
	static const size_t chunks[] = { 1, 2, 7, 64 };
	struct lottery_state state;
	char text[LOTTERY_PROC_SIZE];
	unsigned int i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(chunks); i++) {
		fd = open(LOTTERY_PROC, O_RDONLY | O_CLOEXEC);
		if (!expect(t, fd >= 0, "cannot open it: %s", strerror(errno)))
			return;
		if (expect(t, read_in_chunks(fd, text, chunks[i]), "reads of %zu bytes: %s",
			   chunks[i], strerror(errno)))
			parses(t, text, &state);
		close(fd);
	}
}

static void read_again_by_seek(struct ktap_case *t)
{
	struct lottery_state state;
	char text[LOTTERY_PROC_SIZE];
	unsigned int i;
	int fd;

	fd = open(LOTTERY_PROC, O_RDONLY | O_CLOEXEC);
	if (!expect(t, fd >= 0, "cannot open it: %s", strerror(errno)))
		return;
	for (i = 0; i < 100; i++) {
		expect(t, lseek(fd, 0, SEEK_SET) == 0, "lseek: %s", strerror(errno));
		if (!expect(t, read_in_chunks(fd, text, 512), "read %u: %s", i,
			    strerror(errno)) ||
		    !parses(t, text, &state))
			break;
	}
	close(fd);
}

static void open_twice(struct ktap_case *t)
{
	char text[2][LOTTERY_PROC_SIZE];
	struct lottery_state state;
	size_t used[2] = { 0, 0 };
	ssize_t got[2] = { 1, 1 };
	unsigned int i;
	int fd[2];

	for (i = 0; i < 2; i++) {
		fd[i] = open(LOTTERY_PROC, O_RDONLY | O_CLOEXEC);
		expect(t, fd[i] >= 0, "cannot open it: %s", strerror(errno));
	}
	for (i = 0; got[0] > 0 || got[1] > 0; i = !i) {
		if (got[i] <= 0 || used[i] + 16 >= LOTTERY_PROC_SIZE)
			continue;
		got[i] = read(fd[i], text[i] + used[i], 16);
		if (got[i] > 0)
			used[i] += (size_t)got[i];
	}
	for (i = 0; i < 2; i++) {
		text[i][used[i]] = '\0';
		parses(t, text[i], &state);
		close(fd[i]);
	}
}

static void cannot_be_written(struct ktap_case *t)
{
	int fd = open(LOTTERY_PROC, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	expect(t, write(fd, "0\n", 2) < 0, "a write was taken");
	close(fd);
}

/* The statistics of the CPU of the tests; fails the test when off. */
static struct lottery_cpu stats_now(struct ktap_case *t)
{
	const struct lottery_cpu *cpu;
	struct lottery_state state;

	lottery_read(&state);
	cpu = lottery_find(&state, api.cpu);
	expect(t, state.stats, "statistics are off");
	expect(t, cpu, "no line for CPU %u", api.cpu);
	return cpu ? *cpu : (struct lottery_cpu){ };
}

static bool many_draws(void *arg)
{
	return stats_now(arg).op[LOTTERY_DRAW].count >= 20;
}

static void stats_on_off_clear(struct ktap_case *t)
{
	struct lottery_cpu before, after;
	struct lottery_state state;
	struct subject s, rival;
	bool had_stats;

	lottery_read(&state);
	had_stats = state.stats;
	subject_start(&s);
	subject_start(&rival);
	subject_join(&s, 600, 0);
	subject_join(&rival, 600, 0);
	lottery_switch("stats", false);
	lottery_read(&state);
	expect(t, !state.stats, "they cannot be switched off");
	lottery_switch("stats", true);
	subject_wake(&s);
	subject_wake(&rival);
	expect(t, wait_until(many_draws, t, API_WAIT_NS), "no 20 draws are counted");
	before = stats_now(t);
	expect(t, before.op[LOTTERY_ENQUEUE].count, "no enqueue is counted");
	expect(t, before.op[LOTTERY_DRAW].ns, "the draws took no time");
	lottery_switch("stats", false);
	lottery_switch("stats", true);
	after = stats_now(t);
	expect(t, after.op[LOTTERY_DRAW].count < before.op[LOTTERY_DRAW].count,
	       "%llu draws after switching on again, before it were %llu",
	       after.op[LOTTERY_DRAW].count, before.op[LOTTERY_DRAW].count);
	subject_end(&rival);
	subject_end(&s);
	expect(t, stats_now(t).op[LOTTERY_DEQUEUE].count, "no dequeue is counted");
	lottery_switch("stats", had_stats);
}

static void stats_refuse(struct ktap_case *t)
{
	static const char *const bad[] = {
		"2", "-1", "x", "1x", "4294967296", "18446744073709551616",
	};
	struct lottery_state state;
	unsigned int i, on;
	bool had_stats;
	int error;

	lottery_read(&state);
	had_stats = state.stats;
	for (on = 0; on < 2; on++) {
		lottery_switch("stats", on);
		for (i = 0; i < ARRAY_SIZE(bad); i++) {
			error = write_text(LOTTERY_SYSCTLS "stats", bad[i]);
			expect(t, error == -EINVAL, "'%s': %s, wanted EINVAL", bad[i],
			       error ? strerror(-error) : "taken");
			lottery_read(&state);
			expect(t, state.stats == on, "'%s' has changed it", bad[i]);
		}
	}
	lottery_switch("stats", had_stats);
}

void api_proc(struct ktap *k)
{
	static const struct ktap_test tests[] = {
		{ "the file has its form", has_its_form },
		{ "the pool is what the command line asks for", pool_of_command_line },
		{ "it is read for ever", read_for_ever },
		{ "it is read in small pieces", read_in_bytes },
		{ "it is read again from its start", read_again_by_seek },
		{ "it is read by two at a time", open_twice },
		{ "it cannot be written", cannot_be_written },
		{ "statistics on, off, clear", stats_on_off_clear },
		{ "the sysctl refuses bad values", stats_refuse },
	};

	ktap_group(k, "proc", tests, ARRAY_SIZE(tests));
}

// SPDX-License-Identifier: GPL-2.0
/*
 * wrais-run.c - measure how long an application takes to start while others
 * use the disk.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "diskfile.h"
#include "files.h"
#include "json.h"
#include "ktap.h"
#include "run.h"

/* For the load to reach the disk, and for a killed probe to end. */
#define SWING_NS	(120 * NSEC_PER_SEC)
#define KILL_NS		(120 * NSEC_PER_SEC)
#define LOOK_NS		(10 * NSEC_PER_MSEC)

static struct run_options options;
static pid_t main_pid;

/* What moves while the probe runs. */
struct sums {
	u64 now_ns;
	struct disk_bytes disk;
	u64 load_read;
	u64 load_written;
	u64 probe_written;
	struct wrais_stats stats;
};

struct measurement {
	struct sums *second;		/* at the start of each, for --window */
	u64 seconds;
	struct sums before;
	struct sums after;
	struct probe_result *probe;	/* shared with the probe */
	bool finished;
	bool good;			/* as expected, and it ended well */
	unsigned int starved;		/* workers of the load */
	int code;			/* of the command */
};

static struct sums sums_now(const struct load *load, const struct probe_result *probe)
{
	struct sums sums = {
		.probe_written = load64(&probe->written_bytes),
		.load_read = load_read_bytes(load),
		.load_written = load_written_bytes(load),
	};
	int error = disk_read_bytes(options.disk, &sums.disk);

	if (error)
		die(EXIT_FAILED, "the statistics of %s: %s", options.disk, strerror(-error));
	wrais_read(&sums.stats);
	sums.now_ns = now_ns();
	return sums;
}

static void clean(void)
{
	unlink(options.output);
	if (!options.keep_caches)
		drop_caches();
	else
		sync();
}

/* Every worker works, and what is written has begun to reach the disk. */
static void await_swing(struct load *load)
{
	u64 deadline = now_ns() + SWING_NS;
	struct disk_bytes first, now;

	disk_read_bytes(options.disk, &first);
	now = first;
	while (!load_runs(load) || (options.load.writers && now.written == first.written)) {
		if (now_ns() > deadline)
			die(EXIT_FAILED, "the load does not reach %s", options.disk);
		load_watch(load, -1, now_ns() + LOOK_NS);
		disk_read_bytes(options.disk, &now);
	}
}

static void __noreturn run_child(struct probe_result *result)
{
	int error = 0;

	if (options.probe_weight)
		groups_join_probe();
	if (options.no_priority)
		error = ioprio_change(0, (struct ioprio){ IO_NONE, 0 });
	else if (options.prio.class_set)
		error = ioprio_change(0, options.prio.prio);
	if (error)
		die(EXIT_FAILED, "the I/O priority of the probe: %s", strerror(-error));
	if (options.command) {
		execvp(options.command[0], options.command);
		complain("cannot run %s: %s", options.command[0], strerror(errno));
		_exit(EXIT_NOT_FOUND);
	}
	prctl(PR_SET_NAME, "lprobe");
	probe_run(&options.probe, result);
	_exit(EXIT_GOOD);
}

static pid_t start_probe(struct probe_result *result)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die(EXIT_FAILED, "cannot start a child: %s", strerror(errno));
	if (!pid) {
		die_with_parent(main_pid);
		run_child(result);
	}
	return pid;
}

/* As load_watch(), and note each second how far the load has come. */
static bool watch_seconds(struct load *load, struct measurement *m, int fd, u64 deadline)
{
	u64 next = m->before.now_ns;

	for (m->seconds = 0; m->seconds < options.limit_s; m->seconds++) {
		m->second[m->seconds] = sums_now(load, m->probe);
		next += NSEC_PER_SEC;
		if (load_watch(load, fd, next < deadline ? next : deadline))
			return true;
	}
	return false;
}

/* Wait for the probe; kill one that takes too long: it is reported, and is no success. */
static void finish_probe(struct load *load, struct measurement *m, pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), status;
	u64 deadline = m->before.now_ns + options.limit_s * NSEC_PER_SEC;

	if (fd < 0)
		die(EXIT_FAILED, "pidfd_open: %s", strerror(errno));
	m->finished = options.window_s ? watch_seconds(load, m, fd, deadline) :
					 load_watch(load, fd, deadline);
	close(fd);
	m->after = sums_now(load, m->probe);
	m->starved = load_starved(load);
	if (!m->finished)
		kill(pid, SIGKILL);
	status = wait_child(pid, now_ns() + KILL_NS);
	if (status == -1)
		die(EXIT_FAILED, "the probe (pid %d) does not end", pid);
	m->code = exit_code_of(status);
	if (!m->finished)
		probe_close(m->probe, m->after.now_ns);
	else if (m->code && !options.command)
		die(EXIT_FAILED, "the probe failed");
}

static double mbps_of(const struct sums *before, const struct sums *after, double bytes)
{
	double seconds = (double)(after->now_ns - before->now_ns) / NSEC_PER_SEC;

	return bytes / MEGABYTE / seconds;
}

static double mbps(const struct measurement *m, double bytes)
{
	return mbps_of(&m->before, &m->after, bytes);
}

static double grown(u64 before, u64 after)
{
	return (double)after - (double)before;
}

/*
 * What the background got of the disk, in MB/s: what the readers read, which is not in
 * memory; and if there are writers, all that was written but for the probe's own, because
 * bytes that a writer left in memory were not yet paid for.
 */
static double background(const struct sums *before, const struct sums *after)
{
	double read = grown(before->load_read, after->load_read);
	double written = grown(before->disk.written, after->disk.written) -
			 grown(before->probe_written, after->probe_written);

	if (!options.load.writers || written < 0)
		written = 0;
	return mbps_of(before, after, read + written);
}

/* The least in a row of seconds; the start has none if it was shorter. */
static void report_window(const struct measurement *m)
{
	double least = INFINITY;
	u64 i;

	for (i = options.window_s; i < m->seconds; i++)
		least = fmin(least, background(&m->second[i - options.window_s], &m->second[i]));
	json_real("background_window_mbps", least);
}

static void report_rates(const struct measurement *m)
{
	double disk_read = grown(m->before.disk.read, m->after.disk.read);
	double disk_written = grown(m->before.disk.written, m->after.disk.written);
	double load_read = grown(m->before.load_read, m->after.load_read);

	json_real("background_mbps", background(&m->before, &m->after));
	if (options.window_s)
		report_window(m);
	json_real("background_read_mbps", mbps(m, load_read));
	json_real("background_write_mbps",
		  mbps(m, grown(m->before.load_written, m->after.load_written)));
	json_real("device_mbps", mbps(m, disk_read + disk_written));
	json_real("device_read_mbps", mbps(m, disk_read));
	json_real("device_write_mbps", mbps(m, disk_written));
}

/* How often each part did something. */
static void report_counters(const struct measurement *m)
{
	const struct wrais_stats *stats = &m->after.stats;
	unsigned int i;
	u64 before;

	for (i = 0; i < stats->count; i++)
		if (wrais_find(&m->before.stats, stats->stat[i].name, &before))
			json_signed(stats->stat[i].name, (s64)(stats->stat[i].value - before));
}

/* Tell which counters did not do what they are expected to. */
static bool check_counters(const struct measurement *m)
{
	unsigned int i;
	bool good = true;

	for (i = 0; i < options.nr_expected; i++) {
		const struct expectation *e = &options.expected[i];
		u64 before = 0, after = 0;
		bool grew;

		wrais_find(&m->before.stats, e->counter, &before);
		wrais_find(&m->after.stats, e->counter, &after);
		grew = after > before;
		if (grew == e->grows)
			continue;
		good = false;
		complain("%s: %llu more, expected %s", e->counter, after - before,
			 e->grows ? "some" : "none");
	}
	return good;
}

/* Whether a bound that was missed makes no difference here; say which. */
static bool __printf(1, 2) passes(const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (bounds_on())
		complain("%s", text);
	else
		fprintf(stderr, "# bound missed: %s\n", text);
	return !bounds_on();
}

/* Tell when the load has less of the device than it is to have or more, or a worker nothing. */
static bool check_share(const struct measurement *m)
{
	double all = mbps(m, grown(m->before.disk.read, m->after.disk.read) +
			     grown(m->before.disk.written, m->after.disk.written));
	double percent = all > 0 ? 100 * background(&m->before, &m->after) / all : 0;
	bool good;

	if (options.share_max && percent > options.share_max)
		return passes("the load has %.1f %% of the device, expected %u at the most",
			      percent, options.share_max);
	if (!options.share)
		return true;
	if (m->starved)
		complain("%u of the load's workers have nothing", m->starved);
	good = !m->starved;
	if (percent < options.share)
		good &= passes("the load has %.1f %% of the device, expected %u", percent,
			       options.share);
	return good;
}

/* Tell when the probe was kept waiting for longer than it may be. */
static bool check_longest(const struct measurement *m)
{
	u64 ns = m->probe->times[probe_worst(m->probe)].max_ns;

	if (!options.longest_ns || ns <= options.longest_ns)
		return true;
	return passes("the longest operation took %.1f ms, expected %llu at the most",
		      (double)ns / NSEC_PER_MSEC, options.longest_ns / NSEC_PER_MSEC);
}

/* Tell when the start has not ended: a bound, of a probe that has got on. */
static bool check_finished(const struct measurement *m, u32 repeat)
{
	const struct probe_result *p = m->probe;

	if (m->finished)
		return true;
	if (!options.command && p->reads + p->writes)
		return passes("repeat %u does not end within %llu s", repeat, options.limit_s);
	complain("repeat %u does not end within %llu s", repeat, options.limit_s);
	return false;
}

static void report_conditions(u32 repeat, u64 phase_ms)
{
	const char *class = "inherited";

	if (options.no_priority)
		class = ioprio_classes[IO_NONE];
	else if (options.prio.class_set)
		class = ioprio_classes[options.prio.prio.class];
	if (options.label)
		json_text("label", options.label);
	json_number("repeat", repeat);
	json_number("phase_ms", phase_ms);
	if (options.scheduler)
		json_text("scheduler", options.scheduler);
	json_number("readers", options.load.readers);
	json_number("writers", options.load.writers);
	json_text("probe", options.command ? options.command[0] : probe_kinds[options.kind]);
	json_text("class", class);
	json_number("level", options.prio.prio.level);
	if (options.probe_weight) {
		json_number("probe_weight", options.probe_weight);
		json_number("load_weight", options.load_weight);
		json_bool("member", options.member);
	}
}

static void report(const struct measurement *m, u32 repeat, u64 phase_ms)
{
	json_open();
	report_conditions(repeat, phase_ms);
	json_bool("finished", m->finished);
	if (options.command) {
		json_number("exit_code", (u64)m->code);
		json_seconds("startup_s", m->after.now_ns - m->before.now_ns);
	} else {
		probe_json(m->probe);
	}
	report_rates(m);
	json_number("workers_starved", m->starved);
	report_counters(m);
	json_close();
}

static void measure(struct measurement *m, u32 repeat)
{
	u64 phase_ms = options.phase_ms + (repeat - 1) * options.phase_step_ms;
	struct load load;
	pid_t tracer, pid;

	*m->probe = (struct probe_result){ };
	m->code = 0;
	clean();
	load_start(&load, &options.load);
	await_swing(&load);
	load_watch(&load, -1, now_ns() + phase_ms * NSEC_PER_MSEC);
	m->before = sums_now(&load, m->probe);
	load_mark(&load);
	tracer = trace_start(&options, repeat);
	pid = start_probe(m->probe);
	finish_probe(&load, m, pid);
	load_stop(&load);
	trace_finish(&options, tracer);
	report(m, repeat, phase_ms);
	m->good = check_finished(m, repeat) & check_counters(m) & check_share(m) &
		  check_longest(m);
	/* a probe that was killed has a status of its own */
	if (m->finished)
		m->good &= !m->code;
}

/* Also when the program gives up; children leave the mount to their parent. */
static void at_exit(void)
{
	if (getpid() != main_pid)
		return;
	if (options.mount)
		run_unmount(&options);
	if (options.load_weight)
		groups_remove();
}

int main(int argc, char **argv)
{
	struct measurement m = { };
	bool all_good = true;
	u32 repeat;

	args_init("wrais-run");
	options = *run_parse(argc, argv);
	main_pid = getpid();
	m.probe = xshared(sizeof(*m.probe));
	m.second = options.window_s ? xcalloc(options.limit_s, sizeof(*m.second)) : NULL;
	run_setup(&options);
	atexit(at_exit);
	for (repeat = 1; repeat <= options.repeats; repeat++) {
		measure(&m, repeat);
		all_good &= m.good;
	}
	free(m.second);
	return all_good ? EXIT_GOOD : EXIT_FAILED;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * livelock-source-api.c - the controls of the source of frames: refusals first, then
 * what it does. No card receives: all that is due is lost at the card's tail.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "clock.h"
#include "kmod.h"
#include "ktap.h"
#include "opts.h"
#include "procfs.h"
#include "rate.h"
#include "source.h"

#define TEXT_MAX	1024
#define WAIT_NS		(20 * NSEC_PER_SEC)
#define IP		(10U << 24 | 9U << 16 | 2)
#define PORT		9001
#define RUN_MS		200U
#define RUN_PPS		20000U
#define RUN_FRAMES	(RUN_PPS / 1000 * RUN_MS)

static const struct opt rows[] = {
	KTAP_OPT,
	{ }
};

static const struct opts opts = {
	.usage =
"Usage: livelock-source-api [options]\n"
"\n"
"Test the controls of nll_source: what they refuse, what they take, what that does.\n"
"The rate functions keep their rate, a seed gives the same run again, nothing is\n"
"changed while it runs, the lag is waited for, a sender that is taken away stops the\n"
"run. All frames are lost at the card. It takes all of the machine's cards (82540EM)\n"
"from their drivers: for a virtual machine. The output is KTAP.\n"
"\n",
	.rows = rows,
	.tail = TEST_TAIL,
};

/* What one write should come to; in the tests' tables. */
struct attempt {
	const char *file;
	const char *text;
};

static struct nic sender, receiver;

static void read_or_die(const char *file, char *text)
{
	char path[128];

	snprintf(path, sizeof(path), SOURCE_FILES "/%s", file);
	if (read_text(path, text, TEXT_MAX) < 0)
		die(EXIT_FAILED, "%s cannot be read", path);
}

/* EINVAL, and the file says what it said before. */
static void expect_refusals(struct ktap_case *t, const struct attempt *attempts)
{
	char before[TEXT_MAX], after[TEXT_MAX];
	int error;

	for (; attempts->file; attempts++) {
		read_or_die(attempts->file, before);
		error = source_write(attempts->file, attempts->text);
		read_or_die(attempts->file, after);
		expect(t, error == -EINVAL, "%s '%s': %s", attempts->file, attempts->text,
		       error ? strerror(-error) : "taken");
		expect(t, !strcmp(before, after), "%s '%s' changed something", attempts->file,
		       attempts->text);
	}
}

static void names_refused(struct ktap_case *t)
{
	static const struct attempt attempts[] = {
		{ "config", "bogus 1" }, { "config", "packets" }, { "config", "packets 5 size" },
		{ "config", "function cubic" }, { "config", "malformed evil" },
		{ "config", "packets 5 bogus 1" }, { "run", "go" }, { "run", "11" }, { }
	};

	expect_refusals(t, attempts);
}

static void numbers_refused(struct ktap_case *t)
{
	static const struct attempt attempts[] = {
		{ "config", "packets 0" }, { "config", "packets -1" }, { "config", "packets 1x" },
		{ "config", "packets 0x10" }, { "config", "packets 4294967296" },
		{ "config", "packets 18446744073709551616" }, { "config", "per_ns 0" },
		{ "config", "sd_permille 334" }, { "config", "depth_permille 0" },
		{ "config", "depth_permille 1001" }, { "config", "on_ns 999" },
		{ "config", "off_ns 3600000000001" }, { "config", "tick_ns 999" },
		{ "config", "duration_ns 0" }, { "config", "size 65" }, { "config", "size 1515" },
		{ "config", "every 4294967296" }, { "config", "lag_ms 3600001" }, { }
	};

	expect_refusals(t, attempts);
}

static void contradictions_refused(struct ktap_case *t)
{
	static const struct attempt attempts[] = {
		{ "config", "warmup_ms 1000 duration_ns 1000000000" },
		{ "config", "packets 4294967295 per_ns 1000" },
		{ "config", "packets 1 per_ns 60000000001" },
		{ "config", "function peaks packets 1 per_ns 1000000000 on_ns 1000 off_ns 1000" },
		{ "config", "function ramp packets 1 per_ns 1000000000 period_ns 1000000" }, { }
	};

	expect_refusals(t, attempts);
}

static void targets_refused(struct ktap_case *t)
{
	char self[128], rest[128], other[128];
	const struct attempt attempts[] = {
		{ "targets", "x" }, { "targets", "0000:00:18.0 0000:00:10.0 10.9.0.2" },
		{ "targets", self }, { "targets", rest }, { "targets", other }, { }
	};

	snprintf(self, sizeof(self), "%s %s 10.9.0.2 9001", sender.pci, sender.pci);
	snprintf(rest, sizeof(rest), "%s %s 10.9.0.2 9001 more", sender.pci, receiver.pci);
	snprintf(other, sizeof(other), "%s 0000:00:00.0 10.9.0.2 9001", sender.pci);
	expect_refusals(t, attempts);
}

static void addresses_refused(struct ktap_case *t)
{
	static const char *const ends[] = {
		"10.9.0.256 9001", "10.9.0 9001", "host 9001", "10.9.0.2 0", "10.9.0.2 65536",
		"10.9.0.2 -1", "10.9.0.2 9001x",
	};
	struct attempt attempts[2] = { { .file = "targets" } };
	char text[128];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		snprintf(text, sizeof(text), "%s %s %s", sender.pci, receiver.pci, ends[i]);
		attempts[0].text = text;
		expect_refusals(t, attempts);
	}
}

static void add_target(struct ktap_case *t)
{
	int error = source_add(&sender, &receiver, IP, PORT);

	expect(t, !error, "a target: %s", strerror(-error));
}

static void start_refused(struct ktap_case *t)
{
	expect(t, source_start() == -EINVAL, "it starts without a target");
	add_target(t);
	source_configure("start_ns 1");
	expect(t, source_start() == -EINVAL, "it starts in the past");
	source_configure("start_ns 0");
	source_clear();
}

static void too_many_refused(struct ktap_case *t)
{
	unsigned int i;

	for (i = 0; i < SOURCE_TARGETS; i++)
		add_target(t);
	expect(t, source_add(&sender, &receiver, IP, PORT) == -ENOSPC, "one too many is taken");
	source_clear();
}

static const struct ktap_test refusals[] = {
	{ "names", names_refused },
	{ "numbers", numbers_refused },
	{ "contradictions", contradictions_refused },
	{ "targets", targets_refused },
	{ "addresses", addresses_refused },
	{ "start", start_refused },
	{ "too-many-targets", too_many_refused },
};

static bool is_done(void *arg)
{
	(void)arg;
	return source_done();
}

static void end_run(struct ktap_case *t)
{
	expect(t, wait_until(is_done, NULL, WAIT_NS), "the run does not end");
}

static struct source_counts run(struct ktap_case *t, const char *function, unsigned int seed)
{
	struct source_results results = { };
	int error;

	add_target(t);
	error = source_configure("duration_ns %llu warmup_ms 0 lag_ms 0", RUN_MS * NSEC_PER_MSEC);
	if (!error)
		error = source_configure("function %s packets %u per_ns %llu seed %u", function,
					 RUN_PPS, NSEC_PER_SEC, seed);
	if (!error)
		error = source_start();
	if (expect(t, !error, "%s: %s", function, strerror(-error))) {
		end_run(t);
		source_read(&results);
	}
	source_clear();
	return source_sum(&results.total);
}

/* A tenth is far above what the random functions miss in that many frames. */
static void functions_keep_the_rate(struct ktap_case *t)
{
	unsigned int i;

	for (i = 0; nll_rate_names[i]; i++) {
		struct source_counts counts = run(t, nll_rate_names[i], 1);
		u64 within = i == NLL_RATE_CONSTANT ? 1 : RUN_FRAMES / 10;

		expect(t, counts.due + within >= RUN_FRAMES && counts.due <= RUN_FRAMES + within,
		       "%s: %llu frames, not %u", nll_rate_names[i], counts.due, RUN_FRAMES);
		expect(t, counts.tail == counts.due && !counts.sent && counts.full == 1,
		       "%s: %llu sent, %llu lost, full %llu times: no card listens",
		       nll_rate_names[i], counts.sent, counts.tail, counts.full);
	}
}

static void seeds_tell_runs_apart(struct ktap_case *t)
{
	u64 first = run(t, "poisson", 7).due;

	expect(t, run(t, "poisson", 7).due == first, "the same seed gives another run");
	expect(t, run(t, "poisson", 8).due != first, "another seed gives the same run");
}

static void busy_while_it_runs(struct ktap_case *t)
{
	static const struct attempt attempts[] = {
		{ "config", "packets 5" }, { "targets", "clear" }, { "run", "1" }
	};
	unsigned int i;

	add_target(t);
	source_configure("packets 1000 per_ns 1000000000 duration_ns 60000000000");
	expect(t, !source_start(), "it does not start");
	for (i = 0; i < ARRAY_SIZE(attempts); i++)
		expect(t, source_write(attempts[i].file, attempts[i].text) == -EBUSY,
		       "%s '%s' is taken while it runs", attempts[i].file, attempts[i].text);
	expect(t, !source_done(), "it has ended at once");
	expect(t, !source_stop(), "it does not stop");
	expect(t, source_done(), "it was stopped and still runs");
	source_clear();
}

static void lag_is_waited_for(struct ktap_case *t)
{
	u64 begin = now_ns();

	add_target(t);
	source_configure("packets 1000 per_ns 1000000000 duration_ns 1000000 lag_ms 150");
	expect(t, !source_start(), "it does not start");
	end_run(t);
	expect(t, now_ns() - begin >= 151 * NSEC_PER_MSEC, "it ended before its lag was over");
	source_configure("lag_ms 0 duration_ns 1000000000");
	source_clear();
}

static void gone_with_its_device(struct ktap_case *t)
{
	char text[TEXT_MAX];
	int error;

	add_target(t);
	source_configure("packets 100000 per_ns 1000000000 duration_ns 60000000000");
	expect(t, !source_start(), "it does not start");
	error = nic_unbind(&sender);
	expect(t, !error, "%s cannot be taken away: %s", sender.pci, strerror(-error));
	expect(t, source_done(), "it runs without its device");
	read_or_die("targets", text);
	expect(t, !*text, "it has still targets: %s", text);
	expect(t, source_add(&sender, &receiver, IP, PORT) == -EINVAL, "the device still sends");
	error = nic_bind(&sender, SOURCE_DRIVER);
	expect(t, !error, "%s does not come back: %s", sender.pci, strerror(-error));
}

static const struct ktap_test effects[] = {
	{ "functions", functions_keep_the_rate },
	{ "seeds", seeds_tell_runs_apart },
	{ "busy", busy_while_it_runs },
	{ "lag", lag_is_waited_for },
	{ "device-gone", gone_with_its_device },
};

static void set_up(void)
{
	struct nic nics[NICS_MAX];
	unsigned int count = nic_list(nics);
	int error;

	if (count < 2)
		die(EXIT_UNSUPPORTED, "needs 2 cards (82540EM), found %u", count);
	receiver = nics[0];
	sender = nics[count / 2];
	error = nic_unbind(&receiver);
	if (!error)
		error = nic_reserve(&sender, SOURCE_DRIVER);
	if (error)
		die(EXIT_FAILED, "%s and %s: %s", sender.pci, receiver.pci, strerror(-error));
	error = module_load(SOURCE_DRIVER, "");
	if (error && error != -EEXIST && error != -ENOENT)
		die(EXIT_FAILED, "module " SOURCE_DRIVER ": %s", strerror(-error));
	error = nic_bind(&sender, SOURCE_DRIVER);
	if (error == -ENODEV)
		die(EXIT_UNSUPPORTED, SOURCE_DRIVER ": this kernel does not have it");
	if (error)
		die(EXIT_FAILED, "%s: %s", sender.pci, strerror(-error));
	source_clear();
}

int main(int argc, char **argv)
{
	struct ktap k;

	args_init("livelock-source-api");
	opts_parse(&opts, argc, argv);
	set_up();
	ktap_start(&k, 2);
	ktap_group(&k, "refusals", refusals, ARRAY_SIZE(refusals));
	ktap_group(&k, "effects", effects, ARRAY_SIZE(effects));
	return ktap_finish(&k);
}

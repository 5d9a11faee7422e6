// SPDX-License-Identifier: GPL-2.0
/*
 * lottery-fair.c - the completion order of tasks with tickets and work.
 *
 * All tasks sleep until all are in the class, and are released at once by a
 * launcher in SCHED_FIFO. A launcher that lottery tasks could preempt would be
 * stopped by the first task that it wakes, and the order would become that of
 * their creation.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity.h"
#include "args.h"
#include "json.h"
#include "ktap.h"
#include "lottery_proc.h"
#include "lottery_sched.h"
#include "memory.h"
#include "procfs.h"
#include "race.h"

#define WORK_MS_MAX	1000000U

/* The tickets of --tasks: ten steps. */
#define STEPS		10U
#define STEP_TICKETS	100U

/* Of tickets and completion order: 0 when tickets do not matter. */
#define CORRELATION_MAX	(-0.7)

static const char usage[] =
"Usage: lottery-fair [options] FILE\n"
"       lottery-fair [options] --tasks N\n"
"\n"
"Run compute-bound tasks with lottery tickets on one CPU, all released at once,\n"
"and report the order in which they finish. A line of FILE is 'TICKETS WORK_MS'\n"
"(tickets 1..1000000, work 1..1000000 ms of CPU time); '#' starts a comment.\n"
"\n"
"      --tasks N      N tasks of equal work, with 100, 200 ... 1000 tickets\n"
"      --work-ms MS   their work (20)\n"
"      --cpu CPU      where they run (the first that is allowed)\n"
"      --json         one JSON object for each task\n"
"      --ktap         check the order as a test\n"
"  -h, --help         this text\n"
"  -V, --version      the version\n";

struct options {
	const char *file;
	u32 tasks;
	u32 work_ms;
	u32 cpu;
	enum output output;
};

static void parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "tasks", required_argument, NULL, 'n' },
		{ "work-ms", required_argument, NULL, 'w' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "ktap", no_argument, NULL, 'k' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, ":hV", longs, NULL)) != -1) {
		switch (c) {
		case 'n':
			o->tasks = tasks_argument("--tasks", optarg);
			break;
		case 'w':
			o->work_ms = (u32)args_number("--work-ms", optarg, 1, WORK_MS_MAX);
			break;
		case 'c':
			o->cpu = cpu_argument(optarg);
			break;
		case 'j':
			o->output = OUTPUT_JSON;
			break;
		case 'k':
			o->output = OUTPUT_KTAP;
			break;
		case 'h':
			args_help(usage);
		case 'V':
			args_version();
		default:
			args_refuse(c, argv);
		}
	}
	if (!o->tasks && optind == argc)
		die(EXIT_USAGE, "a task file or --tasks N is missing, try --help");
	if (!o->tasks)
		o->file = argv[optind++];
	args_no_more(argc, argv, optind);
}

/* Take the number at *@at, up to @max; false when there is none. */
static bool take_field(char **at, u64 max, u64 *value)
{
	char *word = *at + strspn(*at, " \t"), *end = word + strcspn(word, " \t");
	char after = *end;
	bool good;

	*end = '\0';
	good = parse_number(word, 1, max, value);
	*end = after;
	*at = end;
	return good;
}

/* False for a line without a task; exits on a malformed one. */
static bool parse_line(const char *file, unsigned int number, char *line,
		       struct racer *racer)
{
	u64 tickets, work_ms;
	char *at = line;

	line[strcspn(line, "#\r\n")] = '\0';
	if (!line[strspn(line, " \t")])
		return false;
	if (!take_field(&at, LOTTERY_TICKETS_MAX, &tickets))
		die(EXIT_USAGE, "%s:%u: bad tickets in '%.60s': allowed 1..%u",
		    file, number, line, LOTTERY_TICKETS_MAX);
	if (!take_field(&at, WORK_MS_MAX, &work_ms))
		die(EXIT_USAGE, "%s:%u: bad work in '%.60s': allowed 1..%u ms",
		    file, number, line, WORK_MS_MAX);
	if (at[strspn(at, " \t")])
		die(EXIT_USAGE, "%s:%u: more than 'TICKETS WORK_MS' in '%.60s'",
		    file, number, line);
	racer->tickets = (u32)tickets;
	racer->work_ns = work_ms * NSEC_PER_MSEC;
	return true;
}

static struct racer *add_racer(struct racer *racers, unsigned int count)
{
	/* doubled whenever it is full: at powers of two */
	if (!(count & (count - 1)))
		racers = xrealloc(racers, (count ? 2 * count : 1) * sizeof(*racers));
	racers[count] = (struct racer){ .id = count + 1 };
	return racers;
}

static struct racer *read_racers(const char *file, unsigned int *count)
{
	struct racer *racers = NULL;
	unsigned int number = 0;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
	FILE *stream;

	stream = fopen(file, "r");
	if (!stream)
		die(EXIT_USAGE, "cannot open %s: %s", file, strerror(errno));
	*count = 0;
	racers = add_racer(racers, 0);
	while ((length = getline(&line, &size, stream)) > 0) {
		number++;
		if (strlen(line) != (size_t)length)
			die(EXIT_USAGE, "%s:%u: not a text line", file, number);
		if (!parse_line(file, number, line, &racers[*count]))
			continue;
		(*count)++;
		racers = add_racer(racers, *count);
	}
	if (ferror(stream))
		die(EXIT_USAGE, "cannot read %s: %s", file, strerror(errno));
	if (!*count)
		die(EXIT_USAGE, "%s: no task in it, a line is 'TICKETS WORK_MS'", file);
	if (*count > process_room())
		die(EXIT_USAGE, "%s: bad task count '%u': allowed 1..%llu (" PROCESS_LIMITS ")",
		    file, *count, process_room());
	free(line);
	fclose(stream);
	return racers;
}

static struct racer *make_racers(const struct options *o)
{
	struct racer *racers = xcalloc(o->tasks, sizeof(*racers));
	unsigned int i;

	for (i = 0; i < o->tasks; i++)
		racers[i] = (struct racer){
			.id = i + 1,
			.tickets = STEP_TICKETS * (1 + i % STEPS),
			.work_ns = o->work_ms * NSEC_PER_MSEC,
		};
	return racers;
}

static void report_json(const struct racer *racers, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		json_open();
		json_number("order", i + 1);
		json_number("id", racers[i].id);
		json_number("tickets", racers[i].tickets);
		json_number("work", racers[i].work_ns / NSEC_PER_MSEC);
		json_number("finish_ns", racers[i].finish_ns);
		json_close();
	}
}

static void report_table(const struct racer *racers, unsigned int count)
{
	unsigned int i;

	printf("%6s %6s %8s %8s %12s\n", "order", "id", "tickets", "work ms", "finish ms");
	for (i = 0; i < count; i++)
		printf("%6u %6u %8u %8llu %12.3f\n", i + 1, racers[i].id,
		       racers[i].tickets, racers[i].work_ns / NSEC_PER_MSEC,
		       (double)racers[i].finish_ns / NSEC_PER_MSEC);
}

/*
 * How far the order of completion is that of the tickets, from -1 (the reverse: who
 * has most is first) to 1, among the tasks of --tasks: Spearman's, with the mean rank
 * for each of the STEPS.
 */
static double order_correlation(const struct racer *racers, unsigned int count)
{
	double mean = (count + 1) / 2.0, rank, up = 0, tickets = 0, order = 0;
	unsigned int i, k, less, same;

	for (i = 0; i < count; i++) {
		less = 0;
		same = 0;
		for (k = 0; k < count; k++) {
			less += racers[k].tickets < racers[i].tickets;
			same += racers[k].tickets == racers[i].tickets;
		}
		rank = less + (same + 1) / 2.0;
		up += (rank - mean) * (i + 1 - mean);
		tickets += (rank - mean) * (rank - mean);
		order += (i + 1 - mean) * (i + 1 - mean);
	}
	return tickets > 0 ? up / sqrt(tickets * order) : 0;
}

/* The line before says what is judged. */
static bool in_bound(const struct ktap *k, bool good)
{
	if (good || bounds_on())
		return good;
	ktap_note(k, "bound missed");
	return true;
}

/* Of the tasks of --tasks: equal work, so that tickets alone decide. */
static void judge_equal(struct ktap *k, const struct racer *racers, unsigned int count)
{
	double rho = order_correlation(racers, count);

	ktap_note(k, "rank correlation of tickets and completion order %.3f, at most %.1f",
		  rho, CORRELATION_MAX);
	ktap_result(k, in_bound(k, rho <= CORRELATION_MAX), "tasks with many tickets finish early");
}

/* The table as notes, and what must hold in every run. */
static int report_ktap(const struct options *o, const struct racer *racers,
		       double quantum_ns)
{
	unsigned int i, certain, upsets, count = o->tasks;
	struct ktap k;

	ktap_start(&k, o->file ? 1 : 2);
	for (i = 0; i < count; i++)
		ktap_note(&k, "order %u id %u tickets %u work_ms %llu finish_ns %llu",
			  i + 1, racers[i].id, racers[i].tickets,
			  racers[i].work_ns / NSEC_PER_MSEC, racers[i].finish_ns);
	if (!o->file)
		judge_equal(&k, racers, count);
	upsets = race_upsets(racers, count, quantum_ns, LOTTERY_SIGMAS, &certain);
	ktap_note(&k, "%u pairs are certain by %.0f sigma, %u came in the wrong order",
		  certain, LOTTERY_SIGMAS, upsets);
	if (certain || !o->file)
		ktap_result(&k, in_bound(&k, certain && !upsets),
			    "tickets decide the completion order");
	else
		ktap_skip(&k, "tickets decide the completion order",
			  "no pair of these tasks has a certain order");
	return ktap_finish(&k);
}

int main(int argc, char **argv)
{
	struct options o = { .work_ms = 20 };
	struct racer *racers;
	double quantum_ns;
	int code = EXIT_GOOD;

	args_init("lottery-fair");
	o.cpu = first_cpu();
	parse(argc, argv, &o);
	racers = o.file ? read_racers(o.file, &o.tasks) : make_racers(&o);
	lottery_require();
	pin_to_cpu(o.cpu);
	become_launcher(LAUNCHER_PRIORITY);
	quantum_ns = race_run(racers, o.tasks, o.cpu, 0);
	if (o.output == OUTPUT_JSON)
		report_json(racers, o.tasks);
	else if (o.output == OUTPUT_KTAP)
		code = report_ktap(&o, racers, quantum_ns);
	else
		report_table(racers, o.tasks);
	free(racers);
	finish_output();
	return code;
}

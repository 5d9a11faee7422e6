// SPDX-License-Identifier: GPL-2.0
/*
 * bench_fair.c - the completion order of tasks with tickets and work.
 *
 * All tasks sleep until all are in the class, and are released at once by a
 * launcher in SCHED_FIFO. A launcher that lottery tasks could preempt would be
 * stopped by the first task that it wakes, and the order would become that of
 * their creation.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "clock.h"
#include "files.h"
#include "ktap.h"
#include "lottery_sched.h"
#include "procfs.h"

#define WORK_MS_MAX	1000000U

/* The tickets of --tasks: ten steps. */
#define STEPS		10U
#define STEP_TICKETS	100U

/* Of tickets and completion order: 0 when tickets do not matter. */
#define CORRELATION_MAX	(-0.7)

/* Beyond the work itself, which gets 95 % of the CPU at least. */
#define SPARE_NS	(120 * NSEC_PER_SEC)

static struct {
	u32 tasks;		/* 0: those of a file */
	u32 work_ms;
} o;

static CREW_FN(run_racer)
{
	const struct racer *racers = arg;

	work_for_ns(racers[i].work_ns);
	store64(&crew->page->slot[i].finish_ns, now_ns());
	return 0;
}

static int by_finish(const void *left, const void *right)
{
	const struct racer *a = left, *b = right;

	if (a->finish_ns != b->finish_ns)
		return a->finish_ns < b->finish_ns ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

double race_run(struct racer *racers, unsigned int count, u64 quantum_ns)
{
	u64 work_ns = 0, contended_ns, lotteries;
	struct lottery_state state;
	unsigned int i, late;
	struct crew crew;

	lottery_read(&state);
	bench_crew(&crew, count, count, run_racer, racers);
	for (i = 0; i < count; i++) {
		crew_enlist(&crew, i, racers[i].tickets, quantum_ns);
		work_ns += racers[i].work_ns;
	}
	lotteries = lottery_count(bench.cpu);
	crew_release(&crew);
	late = crew_reap(&crew, 2 * work_ns + SPARE_NS);
	lotteries = lottery_count(bench.cpu) - lotteries;
	for (i = 0; i < count; i++)
		racers[i].finish_ns = crew.page->slot[i].finish_ns - crew.release_ns;
	crew_destroy(&crew);
	if (late)
		die(EXIT_FAILED, "%u of %u tasks did not finish", late, count);
	qsort(racers, count, sizeof(*racers), by_finish);
	/* until only one is left, which needs no lottery */
	contended_ns = count > 1 ? racers[count - 2].finish_ns : 0;
	return lottery_effective_quantum(lottery_quantum(&state, quantum_ns), contended_ns,
					 lotteries);
}

/*
 * How certain it is, in standard deviations, that @a finishes before @b.
 * Of the lotteries that one of the two wins, each is a's with the probability
 * p = a / (a + b), whatever the others hold. With works of m and n quanta, a is
 * first exactly when it wins at least m of the first m + n - 1 of those.
 */
static double certainty(const struct racer *a, const struct racer *b, double quantum_ns)
{
	double p = (double)a->tickets / ((double)a->tickets + b->tickets);
	double m = ceil((double)a->work_ns / quantum_ns);
	double n = ceil((double)b->work_ns / quantum_ns);
	double draws = m + n - 1;

	return (draws * p - (m - 0.5)) / sqrt(draws * p * (1 - p));
}

unsigned int race_upsets(const struct racer *racers, unsigned int count, double quantum_ns,
			 unsigned int *certain)
{
	unsigned int first, later, upsets = 0;

	*certain = 0;
	for (first = 0; first < count; first++) {
		for (later = first + 1; later < count; later++) {
			double c = certainty(&racers[first], &racers[later], quantum_ns);

			*certain += fabs(c) > LOTTERY_SIGMAS;
			upsets += c < -LOTTERY_SIGMAS;
		}
	}
	return upsets;
}

/* False for a line without a task; exits on a malformed one. */
static bool parse_line(const char *file, unsigned int number, char *line, struct racer *racer)
{
	char shown[61], *words[3], *rest = line;
	u64 tickets, work_ms;
	unsigned int i;

	line[strcspn(line, "#\r\n")] = '\0';
	snprintf(shown, sizeof(shown), "%.60s", line);
	for (i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = strtok_r(NULL, " \t", &rest);
	if (!words[0])
		return false;
	if (!parse_number(words[0], 1, LOTTERY_TICKETS_MAX, &tickets))
		die(EXIT_USAGE, "%s:%u: bad tickets in '%s': allowed 1..%u", file, number, shown,
		    LOTTERY_TICKETS_MAX);
	if (!words[1] || !parse_number(words[1], 1, WORK_MS_MAX, &work_ms))
		die(EXIT_USAGE, "%s:%u: bad work in '%s': allowed 1..%u ms", file, number, shown,
		    WORK_MS_MAX);
	if (words[2])
		die(EXIT_USAGE, "%s:%u: more than 'TICKETS WORK_MS' in '%s'", file, number, shown);
	racer->tickets = (u32)tickets;
	racer->work_ns = work_ms * NSEC_PER_MSEC;
	return true;
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
	while ((length = getline(&line, &size, stream)) > 0) {
		number++;
		if (strlen(line) != (size_t)length)
			die(EXIT_USAGE, "%s:%u: not a text line", file, number);
		racers = xrealloc(racers, (*count + 1) * sizeof(*racers));
		racers[*count] = (struct racer){ .id = *count + 1 };
		*count += parse_line(file, number, line, &racers[*count]);
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

static struct racer *make_racers(void)
{
	struct racer *racers = xcalloc(o.tasks, sizeof(*racers));
	unsigned int i;

	for (i = 0; i < o.tasks; i++)
		racers[i] = (struct racer){
			.id = i + 1,
			.tickets = STEP_TICKETS * (1 + i % STEPS),
			.work_ns = o.work_ms * NSEC_PER_MSEC,
		};
	return racers;
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

/* What must hold in every run; tasks of --tasks have equal work, so that tickets decide. */
static int judge(const struct racer *racers, unsigned int count, double quantum_ns)
{
	unsigned int i, certain, upsets;
	struct ktap k;
	double rho;

	ktap_start(&k, o.tasks ? 2 : 1);
	for (i = 0; i < count; i++)
		ktap_note(&k, "order %u id %u tickets %u work_ms %llu finish_ns %llu", i + 1,
			  racers[i].id, racers[i].tickets, racers[i].work_ns / NSEC_PER_MSEC,
			  racers[i].finish_ns);
	if (o.tasks) {
		rho = order_correlation(racers, count);
		ktap_note(&k, "rank correlation of tickets and completion order %.3f, at most %.1f",
			  rho, CORRELATION_MAX);
		ktap_result(&k, in_bound(&k, rho <= CORRELATION_MAX),
			    "tasks with many tickets finish early");
	}
	upsets = race_upsets(racers, count, quantum_ns, &certain);
	ktap_note(&k, "%u pairs are certain by %.0f sigma, %u came in the wrong order", certain,
		  LOTTERY_SIGMAS, upsets);
	if (certain || o.tasks)
		ktap_result(&k, in_bound(&k, certain && !upsets),
			    "tickets decide the completion order");
	else
		ktap_skip(&k, "tickets decide the completion order",
			  "no pair of these tasks has a certain order");
	return ktap_finish(&k);
}

static void set_tasks(const struct opt *row, const char *value)
{
	o.tasks = tasks_argument(row->name, value);
}

static int run_fair(void)
{
	unsigned int i, count = o.tasks;
	struct racer *racers;
	double quantum_ns;

	if (!o.tasks && !bench.operands[0])
		die(EXIT_USAGE, "a task file or --tasks N is missing, try --help");
	if (o.tasks && bench.operands[0])
		die(EXIT_USAGE, "unexpected argument '%s', try --help", bench.operands[0]);
	racers = o.tasks ? make_racers() : read_racers(bench.operands[0], &count);
	bench_start(true);
	quantum_ns = race_run(racers, count, 0);
	if (bench.output == OUTPUT_KTAP)
		return judge(racers, count, quantum_ns);
	for (i = 0; i < count; i++)
		bench_row(NUM("order", "order", 6, i + 1),
			  NUM("id", "id", 6, racers[i].id),
			  NUM("tickets", "tickets", 8, racers[i].tickets),
			  NUM("work", "work ms", 8, racers[i].work_ns / NSEC_PER_MSEC),
			  NUM("finish_ns", NULL, 0, racers[i].finish_ns),
			  REAL(NULL, "finish ms", 12, 3,
			       (double)racers[i].finish_ns / NSEC_PER_MSEC));
	return EXIT_GOOD;
}

static const struct opt fair_rows[] = {
	OPT(0, "--tasks", "N", CALL(set_tasks),
	    "N tasks of equal work, with 100, 200 ... 1000 tickets"),
	OPT(0, "--work-ms", "MS", NUMBER(o.work_ms, 1, WORK_MS_MAX, 20), "their work (%d)"),
	CPU_ROW,
	JSON_ROW("one JSON object for each task"),
	KTAP_ROW("check the order as a test"),
	{ }
};

const struct bench_case bench_fair = {
	{
		.name = "fair",
		.usage = "Usage: lottery-bench fair [options] FILE\n"
"       lottery-bench fair [options] --tasks N\n\n"
"Run compute-bound tasks with lottery tickets on one CPU, all released at once,\n"
"and report the order in which they finish. A line of FILE is 'TICKETS WORK_MS'\n"
"(tickets 1..1000000, work 1..1000000 ms of CPU time); '#' starts a comment.\n\n",
		.rows = fair_rows,
		.operands = 1,
		.operand = "FILE",
	}, run_fair,
};

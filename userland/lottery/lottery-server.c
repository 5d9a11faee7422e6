// SPDX-License-Identifier: GPL-2.0
/*
 * lottery-server.c - clients with tickets and a server without any.
 *
 * Waldspurger and Weihl 1994, section 5.4 and figure 7: each client sends a query,
 * lends its tickets to the server's thread that serves it, and waits. The threads
 * of the server run on what they are lent. They are SCHED_OTHER, and then share
 * what the deadline server leaves to that, 5 % of the CPU, beside it; or lottery
 * tasks with as few tickets as there can be.
 */
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "crew.h"
#include "json.h"
#include "lottery_loan.h"
#include "lottery_sched.h"
#include "work.h"

#define CLIENTS_MAX	16U
#define WAIT_NS		(60 * NSEC_PER_SEC)

static const char usage[] =
"Usage: lottery-server [options] RATIO\n"
"\n"
"Let clients with tickets query a server that has none, on one CPU. Each query costs\n"
"the server CPU time; a client that waits lends its tickets to the thread that\n"
"serves it. RATIO is the tickets of the clients, like 8:3:1. Needs root.\n"
"\n"
"      --query-us US   CPU time of a query (10000)\n"
"      --seconds S     how long (10)\n"
"      --server-tickets N  of each thread of the server; 0: SCHED_OTHER (0)\n"
"      --no-loans      keep the tickets: the server has what SCHED_OTHER has\n"
"      --cpu CPU       where all run (the first that is allowed)\n"
"      --json          one JSON object for each client\n"
"  -h, --help          this text\n"
"  -V, --version       the version\n";

struct options {
	const char *ratio;
	u32 tickets[CLIENTS_MAX];
	unsigned int count;
	u64 query_ns;
	u32 seconds;
	u32 server_tickets;
	u32 cpu;
	bool no_loans;
	bool json;
};

static void parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "query-us", required_argument, NULL, 'q' },
		{ "seconds", required_argument, NULL, 's' },
		{ "server-tickets", required_argument, NULL, 't' },
		{ "no-loans", no_argument, NULL, 'n' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, ":hV", longs, NULL)) != -1) {
		switch (c) {
		case 'q':
			o->query_ns = args_number("--query-us", optarg, 1, 1000000) *
				      NSEC_PER_USEC;
			break;
		case 's':
			o->seconds = (u32)args_number("--seconds", optarg, 1, 86400);
			break;
		case 't':
			o->server_tickets = (u32)args_number("--server-tickets", optarg, 0,
							     LOTTERY_TICKETS_MAX);
			break;
		case 'n':
			o->no_loans = true;
			break;
		case 'c':
			o->cpu = cpu_argument(optarg);
			break;
		case 'j':
			o->json = true;
			break;
		case 'h':
			args_help(usage);
		case 'V':
			args_version();
		default:
			args_refuse(c, argv);
		}
	}
	if (optind == argc)
		die(EXIT_USAGE, "RATIO is missing, like 8:3:1");
	o->ratio = argv[optind];
	o->count = args_ratio(o->ratio, LOTTERY_TICKETS_MAX, o->tickets, CLIENTS_MAX);
	args_no_more(argc, argv, optind + 1);
}

/* The mark of a server thread: 1 while it has a query. */
static CREW_FN(serve)
{
	struct crew_slot *slot = &crew->page->slot[i];
	const struct options *o = arg;

	for (;;) {
		futex_await(&slot->mark, 1, 0);
		work_for_ns(o->query_ns);
		slot->rounds++;
		futex_set(&slot->mark, 0);
	}
	return 0;
}

/* Client i is served by thread i - count. */
static CREW_FN(ask)
{
	const struct options *o = arg;
	unsigned int server = i - o->count;
	struct crew_slot *slot = &crew->page->slot[server];
	struct loan_ask loan = { .pid = crew->pid[server], .flags = LOAN_KEEP };

	if (!o->no_loans && loan_make(&loan))
		return EXIT_FAILED;
	for (;;) {
		futex_set(&slot->mark, 1);
		futex_await(&slot->mark, 0, 0);
	}
	return 0;
}

static void report(const struct options *o, const u64 *queries)
{
	u32 last = o->count - 1;
	unsigned int i;

	if (!o->json)
		printf("%-8s %8s %10s %8s\n", "client", "tickets", "queries", "ratio");
	for (i = 0; i < o->count; i++) {
		double ratio = queries[last] ? (double)queries[i] / (double)queries[last] : 0;

		if (!o->json) {
			printf("%-8u %8u %10llu %8.2f\n", i + 1, o->tickets[i], queries[i],
			       ratio);
			continue;
		}
		json_open();
		json_text("case", o->ratio);
		json_bool("loans", !o->no_loans);
		json_number("server_tickets", o->server_tickets);
		json_number("client", i + 1);
		json_number("tickets", o->tickets[i]);
		json_number("queries", queries[i]);
		json_real("ratio", ratio);
		json_close();
	}
}

int main(int argc, char **argv)
{
	struct options o = { .query_ns = 10 * NSEC_PER_MSEC, .seconds = 10 };
	u64 queries[CLIENTS_MAX];
	struct crew crew;
	unsigned int i;

	args_init("lottery-server");
	o.cpu = first_cpu();
	parse(argc, argv, &o);
	lottery_require();
	pin_to_cpu(o.cpu);
	become_launcher(LAUNCHER_PRIORITY);
	crew_create(&crew, 2 * o.count);
	for (i = 0; i < o.count; i++)
		crew_fork(&crew, serve, &o);
	for (i = 0; i < o.count; i++)
		crew_fork(&crew, ask, &o);
	crew_gather(&crew, WAIT_NS);
	for (i = 0; i < o.count; i++) {
		crew_enlist(&crew, o.count + i, o.tickets[i], 0);
		if (o.server_tickets)
			crew_enlist(&crew, i, o.server_tickets, 0);
	}
	crew_release(&crew);
	sleep_until_ns(now_ns() + o.seconds * NSEC_PER_SEC);
	for (i = 0; i < o.count; i++)
		queries[i] = load64(&crew.page->slot[i].rounds);
	for (i = 0; i < 2 * o.count; i++)
		if (crew_wait(&crew, i, 0) != -1)
			die(EXIT_FAILED, "a client or server has exited");
	crew_destroy(&crew);
	report(&o, queries);
	finish_output();
	return EXIT_GOOD;
}

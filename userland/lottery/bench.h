/* SPDX-License-Identifier: GPL-2.0 */
/* bench.h - what the cases of lottery-bench have in common. */
#ifndef LOTTERY_BENCH_H
#define LOTTERY_BENCH_H

#include "affinity.h"
#include "args.h"
#include "crew.h"
#include "opts.h"

/* To start, to fall asleep, to exit: far above what a slow machine needs. */
#define BENCH_WAIT_NS	(60 * NSEC_PER_SEC)

/* What all cases are told. */
extern struct bench {
	u32 cpu;		/* where the tasks run */
	u32 seconds;
	enum output output;
	char **operands;	/* ends with NULL */
} bench;

struct bench_case {
	struct opts opts;
	/* Refuses bad operands, measures, reports; returns the exit code. */
	int (*run)(void);
};

extern const struct bench_case bench_share, bench_fair, bench_scale, bench_pipe, bench_floor,
	bench_server, bench_insulate, bench_montecarlo, bench_viewers;

/* The rows of their options. */
#define SECONDS_ROW(most, usually, help) \
	OPT(0, "--seconds", "S", NUMBER(bench.seconds, 1, most, usually), help)
#define CPU_ROW \
	OPT(0, "--cpu", "CPU", CALL_TO(cpu_option, bench.cpu), \
	    "where all run (the first that is allowed)")
#define JSON_ROW(help)	OPT(0, "--json", NULL, SETS(bench.output, OUTPUT_JSON), help)
#define KTAP_ROW(help)	OPT(0, "--ktap", NULL, SETS(bench.output, OUTPUT_KTAP), help)

/*
 * Become SCHED_FIFO on the CPU of the tasks: while the launcher looks, none of them runs.
 * Exits where that is not to be had, or, if @in_class, there is no lottery class.
 */
void bench_start(bool in_class);

/* Start @count children in a crew with @room, and wait until all are asleep. */
void bench_crew(struct crew *crew, unsigned int room, unsigned int count, CREW_FN((*fn)),
		const void *arg);

/*
 * Let the crew run for bench.seconds; @ran_ns is the CPU time of each task meanwhile.
 * Returns how long that was.
 */
u64 bench_watch(const struct crew *crew, u64 *ran_ns);

/* A value of a row: a member of a JSON object, or what is in a column of a table, or both. */
struct cell {
	const char *key;	/* NULL: not in JSON */
	const char *head;	/* of the column; NULL: not in the table */
	int width;		/* below 0: to the left */
	int decimals;
	enum { CELL_TEXT, CELL_NUMBER, CELL_REAL, CELL_BOOL } kind;
	union {
		const char *text;
		u64 number;
		double real;
	};
};

#define CELL(key_, head_, width_, decimals_, kind_, ...) { \
	.key = key_, .head = head_, .width = width_, .decimals = decimals_, .kind = kind_, \
	__VA_ARGS__ }
#define STR(key, head, width, value)	CELL(key, head, width, 0, CELL_TEXT, .text = value)
#define NUM(key, head, width, value)	CELL(key, head, width, 0, CELL_NUMBER, .number = value)
#define REAL(key, head, width, decimals, value) \
	CELL(key, head, width, decimals, CELL_REAL, .real = value)
#define BOOL(key, value)		CELL(key, NULL, 0, 0, CELL_BOOL, .number = value)

/* Print a row of cells: a JSON object, or a line of the table, the first one below a head. */
#define bench_row(...) \
	bench_print((const struct cell[]){ __VA_ARGS__ }, \
		    sizeof((const struct cell[]){ __VA_ARGS__ }) / sizeof(struct cell))
void bench_print(const struct cell *cells, unsigned int count);

/* Tasks with tickets and work, released at once. */
struct racer {
	unsigned int id;	/* from 1, the place in the file */
	u32 tickets;
	u64 work_ns;		/* of CPU time */
	u64 finish_ns;		/* after the release */
};

/*
 * Run @count compute-bound tasks, all asleep until all are lottery tasks that ask for
 * @quantum_ns (0: the default), and wait until the last has finished. Afterwards @racers
 * is in order of completion. Returns the quantum to reckon with, see
 * lottery_effective_quantum(). Exits with EXIT_FAILED when a task does not finish.
 */
double race_run(struct racer *racers, unsigned int count, u64 quantum_ns);

/*
 * Pairs that finished against a certainty of more than LOTTERY_SIGMAS; @certain tells
 * how many pairs are that certain.
 */
unsigned int race_upsets(const struct racer *racers, unsigned int count, double quantum_ns,
			 unsigned int *certain);

/* What a task of the case share execs is this program with SHARE_RESUME, and its place. */
#define SHARE_RESUME	"--resume-hog"
int share_resume(const char *place);

#endif /* LOTTERY_BENCH_H */

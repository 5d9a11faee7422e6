// SPDX-License-Identifier: GPL-2.0
/* wrais-sqlite.c - how long the commits of a real database take. */
#if !__has_include("sqlite3.h")
#error "sqlite3.h is missing: install SQLite's development files (Debian: libsqlite3-dev)"
#endif
#include <getopt.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "ioprio.h"
#include "json.h"
#include "memory.h"
#include "times.h"

#define ROW_BYTES_MAX	65536U

static const char usage[] =
"Usage: wrais-sqlite [options] FILE\n"
"\n"
"Make a new SQLite database in FILE and commit transactions that are on the disk\n"
"when they end (synchronous=FULL). Prints one JSON line with quantiles of their\n"
"times in ms. The database is removed at the end.\n"
"\n"
"      --journal MODE    wal, delete (wal)\n"
"      --commits N       (500)\n"
"      --rows N          inserted in each transaction (10)\n"
"      --bytes N         in each row (200)\n"
"      --seconds S       stop after so long, 0: never (0)\n"
"      --samples FILE    the time of each commit, CSV\n"
"      --class CLASS     I/O priority: none, rt, be, idle (as inherited)\n"
"      --level N         0..7, 0 comes first (4)\n"
"      --keep            do not remove the database\n"
"      --json            no effect, the output is always JSON\n"
"  -h, --help            this text\n"
"  -V, --version         the version\n";

static const char *const journals[] = { "wal", "delete", NULL };

struct options {
	const char *file;
	const char *samples;	/* NULL: none */
	unsigned int journal;
	u32 commits;
	u32 rows;
	u32 bytes;
	u64 seconds;
	bool keep;
	struct ioprio_options prio;
};

enum {
	OPT_JOURNAL = 256, OPT_COMMITS, OPT_ROWS, OPT_BYTES, OPT_SECONDS, OPT_SAMPLES,
	OPT_KEEP, OPT_JSON,
};

static const struct option longs[] = {
	{ "journal", required_argument, NULL, OPT_JOURNAL },
	{ "commits", required_argument, NULL, OPT_COMMITS },
	{ "rows", required_argument, NULL, OPT_ROWS },
	{ "bytes", required_argument, NULL, OPT_BYTES },
	{ "seconds", required_argument, NULL, OPT_SECONDS },
	{ "samples", required_argument, NULL, OPT_SAMPLES },
	{ "class", required_argument, NULL, OPT_IO_CLASS },
	{ "level", required_argument, NULL, OPT_IO_LEVEL },
	{ "keep", no_argument, NULL, OPT_KEEP },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ }
};

static bool parse_work(int c, struct options *o)
{
	switch (c) {
	case OPT_JOURNAL:
		o->journal = args_choice("--journal", optarg, journals);
		return true;
	case OPT_COMMITS:
		o->commits = (u32)args_number("--commits", optarg, 1, 10000000);
		return true;
	case OPT_ROWS:
		o->rows = (u32)args_number("--rows", optarg, 1, 1000000);
		return true;
	case OPT_BYTES:
		o->bytes = (u32)args_number("--bytes", optarg, 1, ROW_BYTES_MAX);
		return true;
	case OPT_SECONDS:
		o->seconds = args_number("--seconds", optarg, 0, 86400);
		return true;
	}
	return false;
}

static void parse(int argc, char **argv, struct options *o)
{
	int c;

	while ((c = getopt_long(argc, argv, ":hV", longs, NULL)) != -1) {
		if (parse_work(c, o) || ioprio_option(c, &o->prio))
			continue;
		switch (c) {
		case OPT_SAMPLES:
			o->samples = optarg;
			break;
		case OPT_KEEP:
			o->keep = true;
			break;
		case OPT_JSON:
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
		die(EXIT_USAGE, "the FILE of the database is missing, try --help");
	o->file = argv[optind];
	args_no_more(argc, argv, optind + 1);
	ioprio_check(&o->prio);
}

/* The database and the files that SQLite keeps beside it. */
static void remove_files(const char *file)
{
	static const char *const tails[] = { "", "-wal", "-shm", "-journal" };
	char path[4096];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tails); i++) {
		snprintf(path, sizeof(path), "%s%s", file, tails[i]);
		unlink(path);
	}
}

static void execute(sqlite3 *db, const char *sql)
{
	char *why;

	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		die(EXIT_FAILED, "%s: %s", sql, why);
}

static sqlite3 *open_database(const struct options *o)
{
	char pragma[64];
	sqlite3 *db;

	remove_files(o->file);
	if (sqlite3_open(o->file, &db) != SQLITE_OK)
		die(EXIT_FAILED, "cannot open %s: %s", o->file, sqlite3_errmsg(db));
	snprintf(pragma, sizeof(pragma), "PRAGMA journal_mode=%s", journals[o->journal]);
	execute(db, pragma);
	execute(db, "PRAGMA synchronous=FULL");
	execute(db, "CREATE TABLE item (id INTEGER PRIMARY KEY, stamp INTEGER, body BLOB)");
	return db;
}

static void insert(sqlite3 *db, sqlite3_stmt *add, const struct options *o, const char *body)
{
	if (sqlite3_bind_int64(add, 1, (sqlite3_int64)now_ns()) != SQLITE_OK ||
	    sqlite3_bind_blob(add, 2, body, (int)o->bytes, SQLITE_STATIC) != SQLITE_OK ||
	    sqlite3_step(add) != SQLITE_DONE || sqlite3_reset(add) != SQLITE_OK)
		die(EXIT_FAILED, "INSERT: %s", sqlite3_errmsg(db));
}

static void commit(sqlite3 *db, sqlite3_stmt *add, const struct options *o, const char *body)
{
	u32 row;

	execute(db, "BEGIN IMMEDIATE");
	for (row = 0; row < o->rows; row++)
		insert(db, add, o, body);
	execute(db, "COMMIT");
}

/* How many commits there were; @ms has the time of each. */
static u32 run(const struct options *o, sqlite3 *db, double *ms)
{
	char *body = xmalloc(o->bytes);
	u64 begin = now_ns(), then;
	sqlite3_stmt *add;
	u32 i;

	memset(body, 'x', o->bytes);
	if (sqlite3_prepare_v2(db, "INSERT INTO item (stamp, body) VALUES (?, ?)", -1, &add,
			       NULL) != SQLITE_OK)
		die(EXIT_FAILED, "INSERT: %s", sqlite3_errmsg(db));
	for (i = 0; i < o->commits; i++) {
		then = now_ns();
		if (o->seconds && then - begin >= o->seconds * NSEC_PER_SEC)
			break;
		commit(db, add, o, body);
		ms[i] = (double)(now_ns() - then) / NSEC_PER_MSEC;
	}
	sqlite3_finalize(add);
	free(body);
	return i;
}

static void write_samples(const char *path, const double *ms, u32 count)
{
	FILE *file = fopen(path, "w");
	u32 i;

	if (!file)
		die(EXIT_FAILED, "--samples: cannot write %s", path);
	fputs("commit,ms\n", file);
	for (i = 0; i < count; i++)
		fprintf(file, "%u,%.6f\n", i + 1, ms[i]);
	if (fclose(file))
		die(EXIT_FAILED, "--samples: cannot write %s", path);
}

static void report(const struct options *o, double *ms, u32 count, double seconds)
{
	json_open();
	json_text("journal", journals[o->journal]);
	json_number("commits", count);
	json_number("rows", o->rows);
	json_real("elapsed_s", seconds);
	report_times(ms, count);
	json_text("sqlite", sqlite3_libversion());
	json_close();
}

int main(int argc, char **argv)
{
	struct options o = { .commits = 500, .rows = 10, .bytes = 200 };
	sqlite3 *db;
	double *ms;
	u64 begin;
	u32 count;

	args_init("wrais-sqlite");
	parse(argc, argv, &o);
	ioprio_take(&o.prio);
	ms = xcalloc(o.commits, sizeof(*ms));
	begin = now_ns();
	db = open_database(&o);
	count = run(&o, db, ms);
	sqlite3_close(db);
	if (o.samples)
		write_samples(o.samples, ms, count);
	report(&o, ms, count, (double)(now_ns() - begin) / NSEC_PER_SEC);
	if (!o.keep)
		remove_files(o.file);
	free(ms);
	return EXIT_GOOD;
}

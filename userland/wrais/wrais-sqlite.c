// SPDX-License-Identifier: GPL-2.0
/* wrais-sqlite.c - how long the commits of a real database take. */
#if !__has_include("sqlite3.h")
#error "sqlite3.h is missing: install SQLite's development files (Debian: libsqlite3-dev)"
#endif
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "diskfile.h"
#include "files.h"
#include "json.h"
#include "opts.h"
#include "times.h"

#define ROW_BYTES_MAX	65536U

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

static struct options options;

static const struct opt rows[] = {
	OPT(0, "--journal", "MODE", CHOICE(options.journal, journals, 0), "%r (%d)"),
	OPT(0, "--commits", "N", NUMBER(options.commits, 1, 10000000, 500), "(%d)"),
	OPT(0, "--rows", "N", NUMBER(options.rows, 1, 1000000, 10),
	    "inserted in each transaction (%d)"),
	OPT(0, "--bytes", "N", NUMBER(options.bytes, 1, ROW_BYTES_MAX, 200), "in each row (%d)"),
	OPT(0, "--seconds", "S", NUMBER(options.seconds, 0, 86400, 0),
	    "stop after so long, 0: never (%d)"),
	OPT(0, "--samples", "FILE", TEXT(options.samples, NULL), "the time of each commit, CSV"),
	OPT(0, "--class", "CLASS", CHOICE(options.prio.prio.class, ioprio_classes, 0),
	    "I/O priority: %r (as inherited)", .given = &options.prio.class_set),
	OPT(0, "--level", "N", NUMBER(options.prio.prio.level, 0, IOPRIO_LEVEL_MAX, 0),
	    "%r, 0 comes first (4)", .given = &options.prio.level_set),
	OPT(0, "--keep", NULL, FLAG(options.keep), "do not remove the database"),
	JSON_OPT,
	{ }
};

static const struct opts opts = {
	.usage =
"Usage: wrais-sqlite [options] FILE\n"
"\n"
"Make a new SQLite database in FILE and commit transactions that are on the disk\n"
"when they end (synchronous=FULL). Prints one JSON line with quantiles of their\n"
"times in ms. The database is removed at the end.\n"
"\n",
	.rows = rows,
	.operands = 1,
	.operand = "FILE",
};

/* The database and the other files that SQLite keeps for it. */
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
	struct options *o = &options;
	sqlite3 *db;
	double *ms;
	u64 begin;
	u32 count;

	args_init("wrais-sqlite");
	o->file = argv[opts_parse(&opts, argc, argv)];
	if (!o->file)
		die(EXIT_USAGE, "the FILE of the database is missing, try --help");
	ioprio_check(&o->prio);
	ioprio_take(&o->prio);
	ms = xcalloc(o->commits, sizeof(*ms));
	begin = now_ns();
	db = open_database(o);
	count = run(o, db, ms);
	sqlite3_close(db);
	if (o->samples)
		write_samples(o->samples, ms, count);
	report(o, ms, count, (double)(now_ns() - begin) / NSEC_PER_SEC);
	if (!o->keep)
		remove_files(o->file);
	free(ms);
	return EXIT_GOOD;
}

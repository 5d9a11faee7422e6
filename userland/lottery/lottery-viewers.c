// SPDX-License-Identifier: GPL-2.0
/*
 * lottery-viewers.c - viewers of films, whose frame rates tickets decide, and change.
 *
 * A frame is a fixed number of blocks of coefficients, which a viewer turns into
 * pixels as decoders of MPEG do. Each viewer decodes as many frames as its share of the
 * CPU allows. In the middle of the run the tickets change.
 *
 * Waldspurger and Weihl, "Lottery Scheduling", 1994, figure 8.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>

#include "affinity.h"
#include "args.h"
#include "hog.h"
#include "json.h"
#include "lottery_sched.h"
#include "progress.h"

/* A block has EDGE x EDGE pixels, a frame 160 x 96. */
#define EDGE		8U
#define FRAME_BLOCKS	240U

static const char usage[] =
"Usage: lottery-viewers [options] BEFORE AFTER\n"
"\n"
"Run viewers on one CPU that decode frames of equal cost. They have tickets in the\n"
"ratio BEFORE (like 3:2:1), and from the middle of the run on in the ratio AFTER (like\n"
"3:1:2). Report how many frames each has decoded, again and again.\n"
"\n"
"      --seconds S    how long in all (60)\n"
"      --look-ms MS   how often to look, 10..60000 (1000)\n"
"      --cpu CPU      where they run (the first that is allowed)\n"
"      --json         one JSON object for each viewer and look\n"
"  -h, --help         this text\n"
"  -V, --version      the version\n";

enum { BEFORE, AFTER, PHASES };

static const char *const phases[PHASES] = { "before", "after" };

struct options {
	struct progress progress;
	unsigned int viewers;
	u32 tickets[PHASES][PROGRESS_TASKS_MAX];
};

static void parse_phases(int argc, char **argv, struct options *o)
{
	unsigned int phase, count[PHASES];

	if (argc - optind < PHASES)
		die(EXIT_USAGE, "two ratios (like 3:2:1 3:1:2) are needed, try --help");
	args_no_more(argc, argv, optind + PHASES);
	for (phase = 0; phase < PHASES; phase++)
		count[phase] = args_ratio(argv[optind + (int)phase], LOTTERY_TICKETS_MAX,
					  o->tickets[phase], PROGRESS_TASKS_MAX);
	if (count[AFTER] != count[BEFORE])
		die(EXIT_USAGE, "bad ratio '%s': allowed %u numbers, as in '%s'",
		    argv[optind + AFTER], count[BEFORE], argv[optind]);
	o->viewers = count[BEFORE];
}

static void parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "look-ms", required_argument, NULL, 'l' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, ":hV", longs, NULL)) != -1) {
		switch (c) {
		case 's':
			o->progress.seconds = seconds_argument(optarg);
			break;
		case 'l':
			o->progress.look_ms = look_argument(optarg);
			break;
		case 'c':
			o->progress.cpu = cpu_argument(optarg);
			break;
		case 'j':
			o->progress.json = true;
			break;
		case 'h':
			args_help(usage);
		case 'V':
			args_version();
		default:
			args_refuse(c, argv);
		}
	}
	parse_phases(argc, argv, o);
	progress_check(&o->progress);
}

/* A viewer: the cosines of its transform, and the block that it works on. */
struct viewer {
	float cosine[EDGE][EDGE];	/* by frequency and place */
	float block[EDGE][EDGE];
	u64 frame;
};

static void viewer_init(struct viewer *v)
{
	unsigned int u, x;

	for (u = 0; u < EDGE; u++)
		for (x = 0; x < EDGE; x++)
			v->cosine[u][x] = (float)(cos((2 * x + 1) * u * M_PI / (2 * EDGE)) *
						  (u ? 0.5 : M_SQRT1_2 / 2));
}

/* What a decoder would have read of a film: any numbers, at the low frequencies. */
static void read_block(struct viewer *v, unsigned int number)
{
	unsigned int u, w;

	for (u = 0; u < EDGE; u++)
		for (w = 0; w < EDGE; w++)
			v->block[u][w] = (float)((v->frame + number) % 64) / (float)(1 + u + w);
}

/* The inverse cosine transform of the columns; and the result turned over. */
static void transform(struct viewer *v)
{
	float pixels[EDGE][EDGE];
	unsigned int u, w, x;

	for (w = 0; w < EDGE; w++) {
		for (x = 0; x < EDGE; x++) {
			float sum = 0;

			for (u = 0; u < EDGE; u++)
				sum += v->cosine[u][x] * v->block[u][w];
			pixels[w][x] = sum;
		}
	}
	for (w = 0; w < EDGE; w++)
		for (x = 0; x < EDGE; x++)
			v->block[w][x] = pixels[w][x];
}

/* A hog_piece: one frame. The slot's value sums up pixels, so that all are made. */
static void decode_frame(struct crew_slot *slot, void *arg)
{
	struct viewer *v = arg;
	double light = 0;
	unsigned int number;

	for (number = 0; number < FRAME_BLOCKS; number++) {
		read_block(v, number);
		transform(v);
		transform(v);
		light += v->block[number % EDGE][number / EDGE % EDGE];
	}
	v->frame++;
	store64(&slot->value, (u64)(s64)light);
}

static CREW_FN(view)
{
	struct viewer v = { .frame = 0 };

	(void)arg;
	viewer_init(&v);
	return hog_work(crew, i, decode_frame, &v);
}

static void report(const struct progress *p, unsigned int phase, u64 ms, unsigned int i,
		   u32 tickets)
{
	u64 frames = load64(&p->crew.page->slot[i].rounds);

	if (!p->json) {
		printf("%10.1f %-8s %6u %8u %10llu\n", (double)ms / 1000, phases[phase],
		       i + 1, tickets, frames);
		return;
	}
	json_open();
	json_number("time_ms", ms);
	json_text("phase", phases[phase]);
	json_number("viewer", i + 1);
	json_number("tickets", tickets);
	json_number("frames", frames);
	json_close();
}

/* A look reports the phase that ends at it. */
static void look_at(struct progress *p, unsigned int look, u64 ms, const void *arg)
{
	unsigned int i, middle = progress_last(p) / 2;
	const struct options *o = arg;

	for (i = 0; i < o->viewers; i++) {
		unsigned int phase = look <= middle ? BEFORE : AFTER;

		report(p, phase, ms, i, o->tickets[phase][i]);
		if (look == middle)
			crew_enlist(&p->crew, i, o->tickets[AFTER][i], 0);
		if (!look)
			hog_wake(&p->crew, i);
	}
}

int main(int argc, char **argv)
{
	struct options o = { .progress = { .seconds = 60, .look_ms = 1000 } };
	struct progress *p = &o.progress;
	bool good;

	args_init("lottery-viewers");
	p->cpu = first_cpu();
	parse(argc, argv, &o);
	progress_start(p, o.viewers, view, NULL, o.tickets[BEFORE]);
	if (!p->json)
		printf("%10s %-8s %6s %8s %10s\n", "seconds", "phase", "viewer", "tickets",
		       "frames");
	progress_run(p, look_at, &o);
	good = progress_end(p);
	finish_output();
	return good ? EXIT_GOOD : EXIT_FAILED;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * judge_strategy.c - a card, a CPU and a strategy, simulated.
 *
 * An interrupt costs 5 us, each frame 20 us to receive and 10 us more for the application that
 * reads it. The card keeps 256 frames. It is left alone for as long as the strategy returns.
 */
#include "course.h"
#include "judge.h"

#define INTERRUPT_US	5U
#define RECEIVE_US	20U
#define READ_US		10U
#define RING		256U
#define BACKLOG		200U
#define WINDOW_US	10000U
#define RUN_US		2000000ULL
#define ALONE_MAX_US	10000U
#define SWITCHES_MAX	100U

struct machine {
	uint64_t now_us;
	double due;			/* frames that have come to the card and wait there */
	unsigned int backlog;		/* received, not read yet */
	uint64_t read, switches;
	double window_us;		/* of receiving, recently */
	bool alone;
};

static const char *const when[] = { "while the CPU is free", "while another task wants the CPU" };

/* Time passes: frames come, and the application reads in the time that receiving leaves. */
static void pass(struct machine *m, double us, double per_us, bool receiving)
{
	unsigned int most;

	m->now_us += (uint64_t)us;
	m->due += us * per_us;
	if (m->due > RING)
		m->due = RING;
	m->window_us -= m->window_us * us / WINDOW_US;
	if (receiving) {
		m->window_us += us;
		return;
	}
	most = (unsigned int)(us / READ_US);
	if (most > m->backlog)
		most = m->backlog;
	m->backlog -= most;
	m->read += most;
}

static void receive(struct machine *m, double per_us, unsigned int frames)
{
	unsigned int room = BACKLOG - m->backlog, kept = frames < room ? frames : room;

	m->due -= frames;
	m->backlog += kept;
	pass(m, frames * RECEIVE_US, per_us, true);
}

static struct machine run(unsigned int pps, bool wanted)
{
	struct course_memory memory = { { 0 } };
	struct machine m = { 0 };
	const double per_us = pps / 1e6;

	while (m.now_us < RUN_US) {
		struct course_round round = { .wanted = wanted };
		unsigned int alone;

		if (m.due < 1) {
			pass(&m, (1 - m.due) / per_us + 1, per_us, false);
			continue;
		}
		if (!m.alone)
			pass(&m, INTERRUPT_US, per_us, true);
		round.frames = (unsigned int)m.due;
		receive(&m, per_us, round.frames);
		round.now_us = m.now_us;
		round.received_us = (unsigned int)m.window_us;
		alone = course_strategy(&memory, &round);
		if (alone > ALONE_MAX_US)
			judge_wrong("the card is left alone for %u us; %u are allowed", alone,
				    ALONE_MAX_US);
		if (alone && !wanted)
			judge_wrong("at %u frames a second the card is left alone while the CPU is free",
				    pps);
		m.switches += !!alone != m.alone;
		m.alone = alone;
		if (alone)
			pass(&m, alone, per_us, false);
	}
	return m;
}

static void expect(unsigned int pps, bool wanted, double least)
{
	struct machine m = run(pps, wanted);
	double seconds = RUN_US / 1e6, rate = m.read / seconds;

	if (rate < least)
		judge_wrong("of %u frames a second the application reads %.0f %s: %.0f are to be had",
			    pps, rate, when[wanted], least);
	if (m.switches / seconds > SWITCHES_MAX)
		judge_wrong("at %u frames a second it switches %.0f times a second: %u are allowed",
			    pps, m.switches / seconds, SWITCHES_MAX);
}

int main(void)
{
	/* few frames: each is read */
	expect(1000, false, 990);
	expect(1000, true, 990);
	/* more than receiving and reading can bear together: no livelock */
	expect(60000, true, 12000);
	expect(200000, true, 12000);
	/* as many as it can just bear: the change is not at every frame */
	expect(25000, true, 12000);
	return judge_right();
}

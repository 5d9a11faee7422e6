// SPDX-License-Identifier: GPL-2.0
/* top_screen.c - lottery top: the terminal, and the keys that are pressed there. */
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "top.h"

#define ROWS_USUAL	24U

/* The other screen, no cursor, long lines cut off instead of wrapped; and back. */
#define SCREEN_OPEN	"\033[?1049h\033[?25l\033[?7l"
#define SCREEN_CLOSE	"\033[?7h\033[?25h\033[?1049l"

/* Signal handlers look at them. */
static atomic_bool on_screen;
static atomic_bool with_keys;	/* saved is what to go back to */
static struct termios saved;

/* For signal handlers, too. A terminal that takes nothing is past helping. */
static void tell_terminal(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		return;
}

/* One that reads or sets its terminal in the background is stopped. */
static bool in_foreground(void)
{
	return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* A key arrives when it is pressed, and is not shown. */
static void keys_open(void)
{
	struct termios raw = saved;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	if (with_keys && in_foreground())
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

static void keys_close(void)
{
	if (with_keys && in_foreground())
		tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

static void screen_close(void)
{
	if (!on_screen)
		return;
	on_screen = false;
	keys_close();
	tell_terminal(SCREEN_CLOSE);
}

/*
 * At once, wherever we are: a reader that has stopped reading must not delay the end.
 * stdout still holds a part of a block, which is of no use.
 */
static void on_end(int signal)
{
	(void)signal;
	screen_close();
	_exit(EXIT_GOOD);
}

/* The shell gets its screen while we are stopped. */
static void on_stop(int signal)
{
	(void)signal;
	keys_close();
	tell_terminal(SCREEN_CLOSE);
	raise(SIGSTOP);
	keys_open();
	tell_terminal(SCREEN_OPEN);
}

static void handle(int signal, void (*handler)(int signal))
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

	sigfillset(&action.sa_mask);
	sigaction(signal, &action, NULL);
}

void screen_end_well(void)
{
	handle(SIGINT, on_end);
	handle(SIGTERM, on_end);
}

bool screen_open(void)
{
	static char block[1 << 16];
	const char *kind = getenv("TERM");

	if (!isatty(STDOUT_FILENO) || !kind || !strcmp(kind, "dumb"))
		return false;
	/* a whole look at once, or it flickers */
	setvbuf(stdout, block, _IOFBF, sizeof(block));
	atexit(screen_close);
	with_keys = !tcgetattr(STDIN_FILENO, &saved);
	on_screen = true;
	handle(SIGHUP, on_end);
	handle(SIGQUIT, on_end);
	handle(SIGTSTP, on_stop);
	keys_open();
	tell_terminal(SCREEN_OPEN);
	return true;
}

unsigned int screen_rows(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row < 2)
		return ROWS_USUAL;
	return size.ws_row;
}

char screen_key(u64 until_ns)
{
	struct pollfd polled = { .fd = STDIN_FILENO, .events = POLLIN };
	u64 now;

	while (with_keys && in_foreground() && (now = now_ns()) < until_ns) {
		struct timespec left = timespec_of(until_ns - now);
		char key;

		if (ppoll(&polled, 1, &left, NULL) <= 0 || !in_foreground())
			continue;
		if (read(STDIN_FILENO, &key, 1) == 1)
			return key;
		with_keys = false;	/* the terminal is gone */
	}
	sleep_until_ns(until_ns);
	return '\0';
}

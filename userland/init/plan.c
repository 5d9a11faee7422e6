// SPDX-License-Identifier: GPL-2.0
/*
 * Read the plan
 *
 * One item a line, fields separated by tabs; in a field \t \n \\ stand for tab,
 * newline and backslash:
 *
 *	mode	plan|shell|command
 *	defer	1
 *	term	NAME	ROWS	COLUMNS
 *	program	NAME	TIMEOUT_S	ARG0	ARG1 ...
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "files.h"
#include "init.h"

static int unescape(char *field)
{
	char *to = field;

	for (char *from = field; *from; from++) {
		char c = *from;

		if (c == '\\') {
			c = *++from;
			if (c == 't')
				c = '\t';
			else if (c == 'n')
				c = '\n';
			else if (c != '\\')
				return -EINVAL;
		}
		*to++ = c;
	}
	*to = '\0';
	return 0;
}

/* Cut a line at its tabs. The vector ends with NULL; @nr is 0 if it is bad. */
static char **split(char *line, size_t *nr)
{
	char **fields = NULL;
	bool bad = false;
	size_t used = 0;
	char *field;

	while ((field = strsep(&line, "\t"))) {
		bad |= unescape(field) != 0;
		fields = xrealloc(fields, (used + 2) * sizeof(*fields));
		fields[used++] = field;
	}
	fields[used] = NULL;
	*nr = bad ? 0 : used;
	return fields;
}

static int set_mode(struct plan *plan, const char *mode)
{
	if (!strcmp(mode, "plan"))
		plan->mode = PLAN_PLAN;
	else if (!strcmp(mode, "shell"))
		plan->mode = PLAN_SHELL;
	else if (!strcmp(mode, "command"))
		plan->mode = PLAN_COMMAND;
	else
		return -EINVAL;
	return 0;
}

static int set_term(struct plan *plan, char **fields)
{
	u64 rows, cols;

	if (!parse_number(fields[2], 0, USHRT_MAX, &rows) ||
	    !parse_number(fields[3], 0, USHRT_MAX, &cols))
		return -EINVAL;
	plan->term = fields[1];
	plan->rows = rows;
	plan->cols = cols;
	return 0;
}

static int add_program(struct plan *plan, char **fields)
{
	size_t size = (plan->nr_programs + 1) * sizeof(*plan->programs);
	struct program *program;

	plan->programs = xrealloc(plan->programs, size);
	program = &plan->programs[plan->nr_programs];
	program->name = fields[1];
	program->argv = fields + 3;
	if (!*program->name || !*program->argv[0] ||
	    !parse_number(fields[2], 0, TIMEOUT_MAX_S, &program->timeout_s))
		return -EINVAL;
	plan->nr_programs++;
	return 0;
}

static int parse_item(struct plan *plan, char **fields, size_t nr)
{
	if (nr == 2 && !strcmp(fields[0], "mode"))
		return set_mode(plan, fields[1]);
	if (nr == 2 && !strcmp(fields[0], "defer") && !strcmp(fields[1], "1")) {
		plan->defer = true;
		return 0;
	}
	if (nr == 4 && !strcmp(fields[0], "term"))
		return set_term(plan, fields);
	if (nr >= 4 && !strcmp(fields[0], "program"))
		return add_program(plan, fields);
	return -EINVAL;
}

/* 0, 1 at the end, or -errno with @why. The line stays: the plan points into it. */
static int take_line(FILE *file, struct plan *plan, unsigned int number, char *why, size_t size)
{
	char *line = NULL, **fields;
	size_t room = 0, nr;
	ssize_t len;

	errno = 0;
	len = getline(&line, &room, file);
	if (len < 0 && errno) {
		snprintf(why, size, "plan: line %u: %s", number, strerror(errno));
		return -EIO;
	}
	if (len < 0)
		return 1;
	line[strcspn(line, "\n")] = '\0';
	if (!*line)
		return 0;
	fields = split(line, &nr);
	if (!parse_item(plan, fields, nr))
		return 0;
	snprintf(why, size, "plan: line %u: bad item '%.40s' (mode, defer, term, program)", number,
		 fields[0]);
	return -EINVAL;
}

int plan_load(const char *path, struct plan *plan, char *why, size_t size)
{
	FILE *file = fopen(path, "re");
	unsigned int number = 0;
	int err;

	if (!file) {
		snprintf(why, size, "plan: %s: %s", path, strerror(errno));
		return -EINVAL;
	}
	do {
		err = take_line(file, plan, ++number, why, size);
	} while (!err);
	fclose(file);
	if (err < 0)
		return err;
	if (plan->mode == PLAN_COMMAND && plan->nr_programs != 1) {
		snprintf(why, size, "plan: mode command takes 1 program, not %zu",
			 plan->nr_programs);
		return -EINVAL;
	}
	return 0;
}

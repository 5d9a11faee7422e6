// SPDX-License-Identifier: GPL-2.0
/* lottery_sched.c - the SCHED_LOTTERY ABI through the raw system calls. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "lottery_sched.h"
#include "procfs.h"

/* The kernel's sched_prio_to_weight, from nice -20 to 19. */
static const u32 nice_tickets[40] = {
	88761, 71755, 56483, 46273, 36291,
	29154, 23254, 18705, 14949, 11916,
	 9548,  7620,  6100,  4904,  3906,
	 3121,  2501,  1991,  1586,  1277,
	 1024,   820,   655,   526,   423,
	  335,   272,   215,   172,   137,
	  110,    87,    70,    56,    45,
	   36,    29,    23,    18,    15,
};

int attr_set(pid_t pid, const struct lottery_attr *attr)
{
	struct lottery_attr copy = *attr;	/* E2BIG writes to the size */

	return (int)syscall(SYS_sched_setattr, pid, &copy, 0);
}

int attr_get(pid_t pid, struct lottery_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	return (int)syscall(SYS_sched_getattr, pid, attr, sizeof(*attr), 0);
}

struct lottery_attr lottery_attr_of(u32 tickets, u64 quantum_ns, int nice)
{
	return (struct lottery_attr){
		.size = sizeof(struct lottery_attr),
		.sched_policy = SCHED_LOTTERY,
		.sched_nice = nice,
		.sched_runtime = quantum_ns,
		.sched_tickets = tickets,
	};
}

int lottery_join(pid_t pid, u32 tickets, u64 quantum_ns)
{
	struct lottery_attr attr;
	int nice;

	errno = 0;
	nice = getpriority(PRIO_PROCESS, (id_t)pid);
	if (nice == -1 && errno)
		return -1;
	attr = lottery_attr_of(tickets, quantum_ns, nice);
	return attr_set(pid, &attr);
}

u32 tickets_of_nice(int nice)
{
	if (nice < -20)
		nice = -20;
	if (nice > 19)
		nice = 19;
	return nice_tickets[nice + 20];
}

u32 tickets_of_task(pid_t pid)
{
	struct lottery_attr attr;

	if (attr_get(pid, &attr))
		return 0;
	if (attr.sched_policy == SCHED_LOTTERY && attr.sched_tickets)
		return attr.sched_tickets;
	return tickets_of_nice(attr.sched_nice);
}

const char *policy_name(unsigned int policy)
{
	switch (policy) {
	case SCHED_OTHER:
		return "SCHED_OTHER";
	case SCHED_FIFO:
		return "SCHED_FIFO";
	case SCHED_RR:
		return "SCHED_RR";
	case SCHED_BATCH:
		return "SCHED_BATCH";
	case SCHED_IDLE:
		return "SCHED_IDLE";
	case SCHED_DEADLINE:
		return "SCHED_DEADLINE";
	case SCHED_EXT:
		return "SCHED_EXT";
	case SCHED_LOTTERY:
		return "SCHED_LOTTERY";
	default:
		return NULL;
	}
}

int lottery_probe(void)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		return errno;
	if (!child)
		_exit(lottery_join(0, 0, 0) ? errno : 0);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

void lottery_require(void)
{
	int error = lottery_probe();

	if (error == EINVAL)
		die(EXIT_UNSUPPORTED, LOTTERY_MISSING);
	if (error == EPERM)
		die(EXIT_FAILED, LOTTERY_DENIED);
	if (error)
		die(EXIT_FAILED, "cannot try SCHED_LOTTERY: %s", strerror(error));
}

void become_launcher(int priority)
{
	struct sched_param param = { .sched_priority = priority };

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param))
		die(EXIT_FAILED, "cannot become SCHED_FIFO: %s", strerror(errno));
}

/* /proc/sched_lottery and its sysctl. */

/* Take @word at *@at; false when something else is there. */
static bool take(const char **at, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(*at, word, length))
		return false;
	*at += length;
	return true;
}

static bool take_number(const char **at, u64 *value)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*value = strtoull(*at, &end, 10);
	*at = end;
	return true;
}

/* Take @name and its number. */
static bool take_pair(const char **at, const char *name, u64 *value)
{
	return take(at, name) && take_number(at, value);
}

static bool take_pool(const char **at, char *pool, size_t size)
{
	size_t length;

	if (!take(at, " pool "))
		return false;
	length = strcspn(*at, "\n ");
	if (!length || length >= size)
		return false;
	memcpy(pool, *at, length);
	pool[length] = '\0';
	*at += length;
	return true;
}

static bool take_stats(const char **at, struct lottery_cpu *cpu)
{
	return take_pair(at, " enqueue_count ", &cpu->op[LOTTERY_ENQUEUE].count) &&
	       take_pair(at, " enqueue_ns ", &cpu->op[LOTTERY_ENQUEUE].ns) &&
	       take_pair(at, " dequeue_count ", &cpu->op[LOTTERY_DEQUEUE].count) &&
	       take_pair(at, " dequeue_ns ", &cpu->op[LOTTERY_DEQUEUE].ns) &&
	       take_pair(at, " draw_count ", &cpu->op[LOTTERY_DRAW].count) &&
	       take_pair(at, " draw_ns ", &cpu->op[LOTTERY_DRAW].ns);
}

static bool take_cpu(const char **at, struct lottery_cpu *cpu, bool stats)
{
	u64 number;

	memset(cpu, 0, sizeof(*cpu));
	if (!take_pair(at, "cpu ", &number))
		return false;
	cpu->cpu = (u32)number;
	if (!take_pool(at, cpu->pool, sizeof(cpu->pool)) ||
	    !take_pair(at, " tasks ", &cpu->tasks) ||
	    !take_pair(at, " tickets ", &cpu->tickets) ||
	    !take_pair(at, " lotteries ", &cpu->lotteries))
		return false;
	if (stats && !take_stats(at, cpu))
		return false;
	return take(at, "\n");
}

/* NULL when the whole text is exactly in the documented form, else what is wrong. */
static const char *lottery_parse(const char *text, struct lottery_state *state)
{
	const char *at = text;
	u64 stats;

	state->cpus = 0;
	if (!take(&at, "version 1\n"))
		return "the first line is not 'version 1'";
	if (!take_pair(&at, "tick_ns ", &state->tick_ns) || !take(&at, "\n") ||
	    !state->tick_ns)
		return "the second line is not 'tick_ns N'";
	if (!take_pair(&at, "stats ", &stats) || !take(&at, "\n") || stats > 1)
		return "the third line is not 'stats 0|1'";
	state->stats = stats;
	while (*at) {
		if (state->cpus == CPUS_MAX)
			return "it has more than 64 CPUs";
		if (!take_cpu(&at, &state->cpu[state->cpus], state->stats))
			return "a cpu line is malformed";
		state->cpus++;
	}
	return state->cpus ? NULL : "it has no cpu line";
}

void lottery_read(struct lottery_state *state)
{
	char text[LOTTERY_PROC_SIZE];
	const char *wrong;
	int length;

	length = read_text(LOTTERY_PROC, text, sizeof(text));
	if (length < 0)
		die(EXIT_FAILED, "cannot read %s: %s", LOTTERY_PROC, strerror(-length));
	wrong = lottery_parse(text, state);
	if (wrong)
		die(EXIT_FAILED, "%s: %s", LOTTERY_PROC, wrong);
}

const struct lottery_cpu *lottery_find(const struct lottery_state *state,
				       unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < state->cpus; i++)
		if (state->cpu[i].cpu == cpu)
			return &state->cpu[i];
	return NULL;
}

u64 lottery_tickets(const struct lottery_state *state)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < state->cpus; i++)
		sum += state->cpu[i].tickets;
	return sum;
}

u64 lottery_tasks(const struct lottery_state *state)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < state->cpus; i++)
		sum += state->cpu[i].tasks;
	return sum;
}

u64 tickets_in_pools(void)
{
	struct lottery_state state;

	lottery_read(&state);
	return lottery_tickets(&state);
}

void lottery_switch(const char *name, bool on)
{
	char path[96];
	int error;

	snprintf(path, sizeof(path), "%s%s", LOTTERY_SYSCTLS, name);
	error = write_text(path, on ? "1\n" : "0\n");
	if (error)
		die(EXIT_FAILED, "cannot write %s: %s", path, strerror(-error));
}

u64 lottery_quantum(const struct lottery_state *state, u64 quantum_ns)
{
	u64 ticks = (quantum_ns + state->tick_ns - 1) / state->tick_ns;

	return (ticks ? ticks : 1) * state->tick_ns;
}

u64 lottery_count(unsigned int cpu)
{
	const struct lottery_cpu *line;
	struct lottery_state state;

	lottery_read(&state);
	line = lottery_find(&state, cpu);
	return line ? line->lotteries : 0;
}

double lottery_effective_quantum(u64 quantum_ns, u64 time_ns, u64 lotteries)
{
	double quanta = (double)time_ns / (double)quantum_ns;

	/* fair tasks have 5 % without a lottery */
	if ((double)lotteries >= 0.85 * quanta)
		return (double)quantum_ns;
	return 2 * (double)time_ns / (lotteries ? (double)lotteries : 1);
}

/* Lending tickets: prctl(PR_LOTTERY). */

int loan_make(const struct loan_ask *ask)
{
	return prctl(PR_LOTTERY, PR_LOTTERY_LEND, ask, sizeof(*ask), 0);
}

int loan_end(pid_t to)
{
	return prctl(PR_LOTTERY, PR_LOTTERY_REVOKE, (unsigned long)to, 0, 0);
}

/* A process as a currency: prctl(PR_LOTTERY). */

int currency_make(u32 tickets)
{
	return prctl(PR_LOTTERY, PR_LOTTERY_CURRENCY, (unsigned long)tickets, 0, 0);
}

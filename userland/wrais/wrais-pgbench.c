// SPDX-License-Identifier: GPL-2.0
/* wrais-pgbench.c - how long the transactions of a PostgreSQL server take. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "files.h"
#include "json.h"
#include "opts.h"
#include "times.h"

#define SAID		"log"			/* in the working directory */
#define NOBODY		65534U
#define READY_NS	(300 * NSEC_PER_SEC)
#define MESSAGE_BYTES	4096
#define PATH_CHARS	80U

struct options {
	const char *dir;
	const char *programs;
	const char *work;	/* not on the disk that is measured */
	bool make;
	u32 scale;
	u32 clients;
	u64 seconds;
	u32 user;
};

static struct options options;

static const struct opt rows[] = {
	OPT(0, "--make", NULL, FLAG(options.make),
	    "make the cluster and its tables, and measure nothing"),
	OPT(0, "--scale", "N", NUMBER(options.scale, 1, 1000, 4),
	    "with --make: branches, of 15 MB each (%d)"),
	OPT(0, "--clients", "N", NUMBER(options.clients, 1, 64, 4), "(%d)"),
	OPT(0, "--seconds", "S", NUMBER(options.seconds, 1, 86400, 20), "(%d)"),
	OPT(0, "--programs", "PATH", TEXT(options.programs, "/usr/lib/postgresql/15/bin"),
	    "PostgreSQL's (%d)"),
	OPT(0, "--work", "PATH", TEXT(options.work, "/run/wrais-pgbench"),
	    "for the server's socket, its log and the times (%d)"),
	OPT(0, "--user", "N", NUMBER(options.user, 0, NOBODY, NOBODY),
	    "runs all of it, if the caller is root (%d)"),
	JSON_OPT,
	{ }
};

static const struct opts opts = {
	.usage =
"Usage: wrais-pgbench [options] DIR\n"
"\n"
"Start the PostgreSQL server of the cluster in DIR, have pgbench's transactions (TPC-B)\n"
"done by it, and stop it. Prints one JSON line with quantiles of their times in ms. All of\n"
"it keeps the caller's I/O priority; root's privileges are dropped.\n"
"\n",
	.rows = rows,
	.operands = 1,
	.operand = "DIR",
};

/* The server works elsewhere, and the path of a socket is short. */
static void check_path(const char *what, const char *path)
{
	if (*path != '/' || strlen(path) > PATH_CHARS)
		die(EXIT_USAGE, "%s: %s: must begin with / and have at most %u characters", what,
		    path, PATH_CHARS);
}

static void parse(int argc, char **argv, struct options *o)
{
	o->dir = argv[opts_parse(&opts, argc, argv)];
	if (!o->dir)
		die(EXIT_USAGE, "the DIR of the cluster is missing, try --help");
	check_path("DIR", o->dir);
	check_path("--work", o->work);
	if (!o->make && access(o->dir, F_OK))
		die(EXIT_USAGE, "%s: %s: make it with --make", o->dir, strerror(errno));
}

static void make_directory(const char *path, u32 user)
{
	if (mkdir(path, 0700) && errno != EEXIST)
		die(EXIT_FAILED, "cannot make %s: %s", path, strerror(errno));
	if (!geteuid() && chown(path, user, user))
		die(EXIT_FAILED, "cannot give %s away: %s", path, strerror(errno));
}

/* The server does not run as root. */
static void drop_root(u32 user)
{
	if (geteuid())
		return;
	if (setgroups(0, NULL) || setgid(user) || setuid(user))
		die(EXIT_FAILED, "cannot become user %u: %s", user, strerror(errno));
}

/* A program of PostgreSQL, @argv[0] its name; what it says goes to SAID. It ends with us. */
static pid_t start(const char *const *argv)
{
	pid_t parent = getpid(), pid = fork();
	int fd;

	if (pid < 0)
		die(EXIT_FAILED, "fork: %s", strerror(errno));
	if (pid)
		return pid;
	fd = open(SAID, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
		_exit(EXIT_FAILED);
	if (prctl(PR_SET_PDEATHSIG, SIGQUIT) || getppid() != parent)
		_exit(EXIT_FAILED);
	/* A shell has both ignored in what it starts in the background, and so are they below. */
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	execvp(argv[0], (char *const *)argv);
	dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
	_exit(EXIT_FAILED);
}

static void __noreturn give_up(const char *program)
{
	copy_file(SAID, STDERR_FILENO);
	die(EXIT_FAILED, "%s failed", program);
}

static void finish(const char *program, pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		give_up(program);
}

static void run(const char *const *argv)
{
	finish(argv[0], start(argv));
}

/* Where the server says that it is ready, as to systemd. */
static int listen_for_ready(const struct options *o)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/notify", o->work);
	unlink(address.sun_path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    setenv("NOTIFY_SOCKET", address.sun_path, 1))
		die(EXIT_FAILED, "cannot listen at %s: %s", address.sun_path, strerror(errno));
	return fd;
}

struct server {
	pid_t pid;
	int fd;
	bool ready;
};

/* It is ready, or has ended. */
static bool server_settled(void *arg)
{
	struct server *server = arg;
	char message[MESSAGE_BYTES];
	ssize_t size;

	while ((size = recv(server->fd, message, sizeof(message) - 1, 0)) > 0) {
		message[size] = '\0';
		if (strstr(message, "READY=1"))
			server->ready = true;
	}
	return server->ready || waitpid(server->pid, NULL, WNOHANG) == server->pid;
}

static pid_t server_start(const struct options *o)
{
	const char *const argv[] = {
		"postgres", "-D", o->dir, "-k", o->work, "-c", "listen_addresses=",
		"-c", "shared_buffers=32MB", "-c", "max_wal_size=128MB", "-c", "jit=off",
		"-c", o->make ? "fsync=off" : "fsync=on", NULL
	};
	struct server server = { .fd = listen_for_ready(o) };

	server.pid = start(argv);
	if (!wait_until(server_settled, &server, READY_NS) || !server.ready)
		give_up(argv[0]);
	close(server.fd);
	return server.pid;
}

/* No new clients, and a checkpoint: what is left is consistent without the log. */
static void server_stop(pid_t pid)
{
	kill(pid, SIGINT);
	finish("postgres", pid);
}

static void make(const struct options *o)
{
	const char *const initdb[] = {
		"initdb", "-D", o->dir, "-U", "postgres", "-A", "trust", "--no-locale",
		"-E", "UTF8", "--no-sync", NULL
	};
	char scale[16];
	const char *const pgbench[] = {
		"pgbench", "-h", o->work, "-U", "postgres", "-i", "-q", "-s", scale, "postgres",
		NULL
	};
	pid_t server;

	snprintf(scale, sizeof(scale), "%u", o->scale);
	run(initdb);
	server = server_start(o);
	run(pgbench);
	server_stop(server);
	sync();
}

/* Lines of "client number us script seconds us"; how many, and the time of each in @ms. */
static size_t read_times(pid_t pgbench, double **ms)
{
	size_t count = 0, room = 0;
	char path[64], line[256];
	FILE *file;
	double us;

	snprintf(path, sizeof(path), "times.%d", pgbench);
	file = fopen(path, "r");
	if (!file)
		die(EXIT_FAILED, "cannot read %s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*u %*u %lf", &us) != 1)
			die(EXIT_FAILED, "%s: no time in: %s", path, line);
		if (count == room) {
			room = room ? 2 * room : 1024;
			*ms = xrealloc(*ms, room * sizeof(**ms));
		}
		(*ms)[count++] = us / 1000;
	}
	fclose(file);
	unlink(path);
	return count;
}

static void report(const struct options *o, double *ms, size_t count, u64 took_ns)
{
	json_open();
	json_number("clients", o->clients);
	json_number("transactions", count);
	json_seconds("elapsed_s", took_ns);
	report_times(ms, count);
	json_close();
}

/* pgbench's random numbers are the same ones each time. */
static void measure(const struct options *o)
{
	char clients[16], seconds[24];
	const char *const argv[] = {
		"pgbench", "-h", o->work, "-U", "postgres", "-n", "-c", clients, "-T", seconds,
		"--random-seed=1", "--log", "--log-prefix=times", "postgres", NULL
	};
	pid_t server = server_start(o), pgbench;
	double *ms = NULL;
	u64 begin;
	size_t count;

	snprintf(clients, sizeof(clients), "%u", o->clients);
	snprintf(seconds, sizeof(seconds), "%llu", o->seconds);
	begin = now_ns();
	pgbench = start(argv);
	finish(argv[0], pgbench);
	begin = now_ns() - begin;
	count = read_times(pgbench, &ms);
	if (!count)
		give_up(argv[0]);
	report(o, ms, count, begin);
	finish_output();
	free(ms);
	server_stop(server);
}

int main(int argc, char **argv)
{
	struct options *o = &options;

	args_init("wrais-pgbench");
	parse(argc, argv, o);
	if (o->make)
		make_directory(o->dir, o->user);
	make_directory(o->work, o->user);
	drop_root(o->user);
	if (chdir(o->work))
		die(EXIT_FAILED, "--work: %s: %s", o->work, strerror(errno));
	unlink(SAID);
	/* they look for each other there, too */
	if (setenv("PATH", o->programs, 1))
		die(EXIT_FAILED, "--programs: %s", strerror(errno));
	if (o->make)
		make(o);
	else
		measure(o);
	return EXIT_GOOD;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * safety_fuse.c - wrais-safety: a file system in user space whose server stops to answer,
 * under privileged writers.
 */
#define FUSE_USE_VERSION 35

#include <errno.h>
#include <fuse3/fuse_lowlevel.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "files.h"
#include "procfs.h"
#include "safety.h"

#define DISK_MIB	128U
#define DISK_MBPS	15U
#define CONTROL		"/sys/fs/fuse/connections"

/* The kernel gives such a file system one per cent of that. */
#define DIRTY_BYTES	(64 * MIB)
#define FUSE_PERCENT	1U
/* A writer looks at the limits every few pages; the kernel's counters are per CPU. */
#define SLACK_BYTES	(MIB / 2)
/* What the server takes before it stops to answer, and what others write then. */
#define ANSWERED_BYTES	(1 * MIB)
#define OTHERS_BYTES	(20 * MIB)
#define BRIEF_BYTES	(4 * MIB)

/* Shared with the server. */
struct served {
	u64 bytes;		/* that it has answered for */
	u32 stalled;		/* it answers no write any more */
};

struct server {
	char dir[PATH_MAX];
	struct served *served;
	pid_t pid;
	dev_t device;		/* of the mount */
};

static struct served *served_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

/* The root directory, or any file: nobody looks at more than that. */
static struct stat attributes(fuse_ino_t ino)
{
	bool root = ino == FUSE_ROOT_ID;

	return (struct stat){
		.st_ino = ino,
		.st_mode = root ? S_IFDIR | 0755 : S_IFREG | 0644,
		.st_nlink = root ? 2 : 1,
	};
}

static void serve_init(void *userdata, struct fuse_conn_info *conn)
{
	(void)userdata;
	/* the kernel keeps what is written, as for a disk */
	conn->want |= FUSE_CAP_WRITEBACK_CACHE;
}

static void serve_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	(void)parent;
	(void)name;
	fuse_reply_err(req, ENOENT);
}

static void serve_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *file)
{
	struct stat attr = attributes(ino);

	(void)file;
	fuse_reply_attr(req, &attr, 0);
}

static void serve_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set,
			  struct fuse_file_info *file)
{
	(void)attr;
	(void)to_set;
	serve_getattr(req, ino, file);
}

/* Every file is a new one. */
static void serve_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
			 struct fuse_file_info *file)
{
	static fuse_ino_t last = FUSE_ROOT_ID;
	struct fuse_entry_param entry = { .ino = ++last };

	(void)parent;
	(void)name;
	(void)mode;
	entry.attr = attributes(entry.ino);
	fuse_reply_create(req, &entry, file);
}

/* Data go nowhere; who is to be answered no more waits until the connection is aborted. */
static void serve_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size,
			off_t at, struct fuse_file_info *file)
{
	struct served *served = served_of(req);

	(void)ino;
	(void)data;
	(void)at;
	(void)file;
	if (served->bytes >= ANSWERED_BYTES) {
		store(&served->stalled, 1);
		return;
	}
	store64(&served->bytes, served->bytes + size);
	fuse_reply_write(req, size);
}

static const struct fuse_lowlevel_ops operations = {
	.init = serve_init,
	.lookup = serve_lookup,
	.getattr = serve_getattr,
	.setattr = serve_setattr,
	.create = serve_create,
	.write = serve_write,
};

/* Mount it; from now on a child serves it, until the connection is aborted. */
static void server_start(struct server *s)
{
	char name[] = "wrais-safety";
	struct fuse_args args = FUSE_ARGS_INIT(1, (char *[]){ name });
	struct fuse_session *session;
	struct stat root;

	s->served = xshared(sizeof(*s->served));
	snprintf(s->dir, sizeof(s->dir), "%s-fuse", safety.dir);
	if (mkdir(s->dir, 0755) && errno != EEXIST)
		die(EXIT_FAILED, "%s: %s", s->dir, strerror(errno));
	session = fuse_session_new(&args, &operations, sizeof(operations), s->served);
	if (!session || fuse_session_mount(session, s->dir))
		die(EXIT_FAILED, "no file system in user space can be mounted");
	s->pid = fork_child();
	if (!s->pid)
		_exit(fuse_session_loop(session) ? EXIT_FAILED : EXIT_GOOD);
	/* the child has it */
	fuse_session_destroy(session);
	if (stat(s->dir, &root))
		die(EXIT_FAILED, "%s: %s", s->dir, strerror(errno));
	s->device = root.st_dev;
}

/* All that waits for the server gets an error, and so does the server. */
static int server_abort(const struct server *s)
{
	char path[PATH_MAX];

	if (mount("fusectl", CONTROL, "fusectl", 0, NULL) && errno != EBUSY)
		return -errno;
	snprintf(path, sizeof(path), CONTROL "/%u/abort", minor(s->device));
	return write_text(path, "1");
}

static void server_end(struct ktap_case *t, struct server *s)
{
	int status = wait_child(s->pid, now_ns() + safety_left_ns());

	expect(t, !status, "the server's status is %d", status);
	expect(t, !umount2(s->dir, MNT_DETACH), "cannot unmount: %s", strerror(errno));
	munmap(s->served, sizeof(*s->served));
}

/* What waits to be written to it, and what it has been asked to write. */
static u64 dirty_of(const struct server *s)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/kernel/debug/bdi/%u:%u/stats", major(s->device),
		 minor(s->device));
	return (value_of(path, "BdiReclaimable") + value_of(path, "BdiWriteback")) * 1024;
}

static bool is_stalled(void *arg)
{
	const struct server *s = arg;

	return load(&s->served->stalled);
}

/* Others write elsewhere meanwhile. */
struct watch {
	const struct server *server;
	const struct crew *others;
	u64 bytes;		/* that they are to write */
	u64 peak;		/* the most that was dirty in the server's file system */
};

static bool others_have_come(void *arg)
{
	struct watch *w = arg;
	u64 dirty = dirty_of(w->server);

	if (dirty > w->peak)
		w->peak = dirty;
	return tasks_bytes(w->others) >= w->bytes;
}

/* Beside a server that has stalled, others write to a disk, and get memory. */
static void others_go_on(struct ktap_case *t, struct watch *w)
{
	static const struct task task = OTHERS(WRITE);
	struct crew others;

	tasks_start(&others, &task, 1);
	w->others = &others;
	expect(t, wait_until(others_have_come, w, safety_left_ns()),
	       "another task has written %llu of %llu bytes", tasks_bytes(&others), w->bytes);
	expect_memory(t, NULL, memory_to_have());
	/* and once more, behind that */
	others_have_come(w);
	tasks_stop(t, &others);
}

/*
 * Its pages stay dirty, or are copied and under way for ever, which no counter of dirty
 * pages shows: only its own limit keeps it from all memory.
 */
void case_stalled_fuse(struct ktap_case *t)
{
	struct server server = { };
	char path[2][PATH_MAX + 8];
	const struct task tasks[] = {
		{ .role = ROLE_FILL, .privileged = true, .path = path[0] },
		{ .role = ROLE_FILL, .privileged = true, .path = path[1] },
	};
	u64 most = DIRTY_BYTES / 100 * FUSE_PERCENT + ARRAY_SIZE(tasks) * SLACK_BYTES;
	u64 kills = value_of(VMSTAT, "oom_kill");
	struct watch w = {
		.server = &server, .bytes = safety.brief ? BRIEF_BYTES : OTHERS_BYTES,
	};
	struct crew crew;
	int error;

	disk_make(DISK_MIB, DISK_MBPS, "data=ordered");
	vm_set("dirty_bytes", DIRTY_BYTES);
	vm_set("dirty_background_bytes", DIRTY_BYTES / 2);
	server_start(&server);
	snprintf(path[0], sizeof(path[0]), "%s/file.1", server.dir);
	snprintf(path[1], sizeof(path[1]), "%s/file.2", server.dir);
	tasks_start(&crew, tasks, ARRAY_SIZE(tasks));
	if (expect(t, wait_until(is_stalled, &server, safety_left_ns()), "nothing is written"))
		others_go_on(t, &w);
	error = server_abort(&server);
	expect(t, !error, "cannot abort the connection: %s", strerror(-error));
	tasks_expect_error(t, &crew, ENOTCONN, ECONNABORTED);
	server_end(t, &server);
	ktap_note(t->ktap, "at most %llu bytes dirty, allowed %llu", w.peak, most);
	expect(t, w.peak <= most, "%llu bytes dirty, allowed %llu", w.peak, most);
	expect(t, value_of(VMSTAT, "oom_kill") == kills, "somebody was killed for memory");
}

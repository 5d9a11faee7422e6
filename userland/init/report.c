// SPDX-License-Identifier: GPL-2.0
/*
 * The result stream on the virtio-serial port RESULT_PORT
 *
 * Deferred, the stream is kept in memory until the plan is done: an exit to
 * the host in the middle of a measurement would be part of the measurement.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "files.h"
#include "init.h"
#include "procfs.h"

#define PORTS	"/sys/class/virtio-ports"
#define INDENT	"  "

static struct {
	int fd;
	bool defer;
	bool inside_line;
	char *kept;
	size_t used;
	size_t size;
} report = { .fd = -1 };

static bool port_is_ours(const char *device)
{
	char path[300], name[64];

	snprintf(path, sizeof(path), PORTS "/%s/name", device);
	return read_text(path, name, sizeof(name)) > 0 && !strcmp(name, RESULT_PORT "\n");
}

/* The name of a port arrives a moment after the port. */
static bool port_opens(void *fd)
{
	DIR *dir = opendir(PORTS);
	struct dirent *entry;
	char path[300];

	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || !port_is_ours(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
		*(int *)fd = open(path, O_WRONLY | O_CLOEXEC);
		break;
	}
	closedir(dir);
	return *(int *)fd >= 0;
}

int report_open(void)
{
	u64 patience_ns = DEVICE_WAIT_S * NSEC_PER_SEC;

	return wait_until(port_opens, &report.fd, patience_ns) ? 0 : -ENODEV;
}

static void report_send(const void *data, size_t len)
{
	int err = write_all(report.fd, data, len);

	if (err)
		log_line("result port: %s", strerror(-err));
}

void report_raw(const void *data, size_t len)
{
	if (!report.defer) {
		report_send(data, len);
		return;
	}
	if (report.size - report.used < len) {
		report.size = 2 * report.size + len;
		report.kept = xrealloc(report.kept, report.size);
	}
	memcpy(report.kept + report.used, data, len);
	report.used += len;
}

void report_line(const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text) - 1, fmt, args);
	va_end(args);
	strcat(text, "\n");
	report_raw(text, strlen(text));
}

/* The output of a program, indented so that it cannot pass for a result. */
void report_output(const char *data, size_t len)
{
	while (len) {
		const char *end = memchr(data, '\n', len);
		size_t part = end ? (size_t)(end - data) + 1 : len;

		if (!report.inside_line)
			report_raw(INDENT, strlen(INDENT));
		report_raw(data, part);
		report.inside_line = !end;
		data += part;
		len -= part;
	}
}

void report_output_end(void)
{
	if (report.inside_line)
		report_raw("\n", 1);
	report.inside_line = false;
}

void report_defer(bool defer)
{
	report.defer = defer;
	if (!defer && report.used) {
		report_send(report.kept, report.used);
		report.used = 0;
	}
}

void report_close(void)
{
	report_defer(false);
	close(report.fd);
	report.fd = -1;
}

// SPDX-License-Identifier: GPL-2.0
/* api_common.c - wrais-api: losing privileges, and putting things back. */
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api.h"
#include "args.h"
#include "clock.h"
#include "crew.h"
#include "memory.h"
#include "procfs.h"

#define NOBODY		65534

struct api api;

const char *const drop_names[] = {
	"root without capabilities", "another user", "root of a user namespace", NULL
};

static_assert(ARRAY_SIZE(drop_names) == DROPS + 1, "a name for each way");

static void clear_capability(struct __user_cap_data_struct *data, unsigned int capability)
{
	u32 bit = CAP_TO_MASK(capability);
	unsigned int word = CAP_TO_INDEX(capability);

	data[word].effective &= ~bit;
	data[word].permitted &= ~bit;
	data[word].inheritable &= ~bit;
}

static bool drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data))
		return false;
	clear_capability(data, CAP_SYS_ADMIN);
	clear_capability(data, CAP_SYS_NICE);
	return !syscall(SYS_capset, &header, data);
}

static bool drop_user(void)
{
	return !setresgid(NOBODY, NOBODY, NOBODY) && !setresuid(NOBODY, NOBODY, NOBODY);
}

static int give_up(enum drop how)
{
	if (how == DROP_CAPABILITY)
		return drop_capabilities() ? 0 : API_LOST;
	if (!drop_user())
		return API_LOST;
	if (how == DROP_NAMESPACE && unshare(CLONE_NEWUSER))
		return API_CANNOT;
	return 0;
}

int unprivileged(enum drop how, int (*fn)(const void *arg), const void *arg)
{
	pid_t self = getpid(), pid;
	int *shared, status, result;

	shared = xshared(sizeof(*shared));
	*shared = API_LOST;
	pid = fork();
	if (!pid) {
		int lost;

		die_with_parent(self);
		lost = give_up(how);
		*shared = lost ? lost : fn(arg);
		_exit(EXIT_GOOD);
	}
	if (pid < 0)
		die(EXIT_FAILED, "cannot start a child: %s", strerror(errno));
	status = wait_child(pid, now_ns() + API_WAIT_NS);
	result = status ? API_LOST : *shared;
	munmap(shared, sizeof(*shared));
	return result;
}

void expect_refusal(struct ktap_case *t, enum drop how, int (*fn)(const void *arg),
		    const void *arg, int error, int other)
{
	int result = unprivileged(how, fn, arg);

	if (result == API_CANNOT) {
		skip_test(t, "this kernel has no user namespaces for everybody");
		return;
	}
	if (!expect(t, result != API_LOST, "%s: the child was lost", drop_names[how]))
		return;
	expect(t, result, "%s: was permitted", drop_names[how]);
	if (result)
		expect(t, result == -error || result == -other, "%s: %s, not %s",
		       drop_names[how], strerror(-result), strerror(error));
}

void api_each(struct ktap *parent, const char *group, const char *const *names,
	      unsigned int count, void (*run)(struct ktap_case *t))
{
	struct ktap k;
	unsigned int i;

	ktap_start_group(&k, parent, group, count);
	for (i = 0; i < count; i++) {
		struct ktap_test test = { names[i], run };

		api.name = names[i];
		ktap_run(&k, &test);
	}
	ktap_finish_group(&k, parent, group);
}

u64 value_now(struct ktap_case *t, const char *name)
{
	u64 value = ~0ULL;
	int error = wrais_get(name, &value);

	expect(t, !error, "cannot read %s: %s", name, strerror(-error));
	return value;
}

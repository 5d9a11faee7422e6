// SPDX-License-Identifier: GPL-2.0-only
/* config.c - names and values of the configuration of a run. */
#include <linux/kernel.h>
#include <linux/string.h>

#include "source.h"

#define SECONDS_MAX	3600U
#define CHOICES_MAX	80U	/* the names of a choice in a row */

/**
 * struct number - a whole number of the configuration
 * @name: as it is written
 * @place: of the field in the structure
 * @size: of the field, 4 or 8 bytes
 * @min: least value
 * @max: greatest value
 */
struct number {
	const char *name;
	size_t place;
	size_t size;
	u64 min;
	u64 max;
};

#define NUMBER(word, bits, field, low, high) {				\
	.name = word, .place = offsetof(struct nll_config, field),	\
	.size = (bits) / BITS_PER_BYTE, .min = low, .max = high }

static const struct number numbers[] = {
	NUMBER("packets", 64, rate.packets, 1, U32_MAX),
	NUMBER("per_ns", 64, rate.per_ns, 1, SECONDS_MAX * (u64)NSEC_PER_SEC),
	NUMBER("sd_permille", 32, rate.sd_permille, 0, NLL_RATE_SD_MAX),
	NUMBER("depth_permille", 32, rate.depth_permille, 1, NLL_RATE_DEPTH_MAX),
	NUMBER("on_ns", 64, rate.on_ns, NLL_RATE_PHASE_MIN_NS, NLL_RATE_PHASE_MAX_NS),
	NUMBER("off_ns", 64, rate.off_ns, NLL_RATE_PHASE_MIN_NS, NLL_RATE_PHASE_MAX_NS),
	NUMBER("period_ns", 64, rate.period_ns, NLL_RATE_PHASE_MIN_NS, NLL_RATE_PHASE_MAX_NS),
	NUMBER("seed", 64, rate.seed, 0, U64_MAX - NLL_TARGETS),
	NUMBER("start_ns", 64, start_ns, 0, S64_MAX / 2),
	NUMBER("duration_ns", 64, duration_ns, 1, SECONDS_MAX * (u64)NSEC_PER_SEC),
	NUMBER("warmup_ms", 32, warmup_ms, 0, SECONDS_MAX * MSEC_PER_SEC),
	NUMBER("lag_ms", 32, lag_ms, 0, SECONDS_MAX * MSEC_PER_SEC),
	NUMBER("tick_ns", 32, tick_ns, 1000, NSEC_PER_SEC),
	NUMBER("size", 32, size, NLL_SIZE_MIN, NLL_SIZE_MAX),
	NUMBER("every", 32, every, 0, U32_MAX),
};

static u64 get(const struct nll_config *c, const struct number *n)
{
	const void *field = (const char *)c + n->place;

	return n->size == sizeof(u64) ? *(const u64 *)field : *(const u32 *)field;
}

static void set(struct nll_config *c, const struct number *n, u64 value)
{
	void *field = (char *)c + n->place;

	if (n->size == sizeof(u64))
		*(u64 *)field = value;
	else
		*(u32 *)field = value;
}

/* The default: a run of a second with 1,000 frames. */
void nll_config_defaults(struct nll_config *c)
{
	*c = (struct nll_config){
		.rate = {
			.shape = NLL_RATE_CONSTANT,
			.sd_permille = 250,
			.depth_permille = 900,
			.packets = 1000,
			.per_ns = NSEC_PER_SEC,
			.on_ns = 10 * NSEC_PER_MSEC,
			.off_ns = 10 * NSEC_PER_MSEC,
			.period_ns = 200 * NSEC_PER_MSEC,
			.seed = 1,
		},
		.duration_ns = NSEC_PER_SEC,
		.lag_ms = 100,
		.tick_ns = 50 * NSEC_PER_USEC,
		.size = NLL_SIZE_MIN,
	};
}

static int set_number(struct nll_config *c, const struct number *n,
		      const char *text)
{
	u64 value;

	if (kstrtou64(text, 10, &value) || value < n->min || value > n->max) {
		pr_notice(NLL_SOURCE_DRIVER ": %s '%s': allowed are %llu to %llu\n", n->name,
			  text, n->min, n->max);
		return -EINVAL;
	}
	set(c, n, value);
	return 0;
}

static int set_choice(const char *name, const char *const *names,
		      u32 *choice, const char *text)
{
	char allowed[CHOICES_MAX] = "";
	unsigned int i;

	for (i = 0; names[i]; i++) {
		if (!strcmp(names[i], text)) {
			*choice = i;
			return 0;
		}
		strlcat(allowed, " ", sizeof(allowed));
		strlcat(allowed, names[i], sizeof(allowed));
	}
	pr_notice(NLL_SOURCE_DRIVER ": %s '%s': allowed are%s\n", name, text, allowed);
	return -EINVAL;
}

static int set_one(struct nll_config *c, const char *name,
		   const char *value)
{
	unsigned int i;

	if (!strcmp(name, "function"))
		return set_choice(name, nll_rate_names, &c->rate.shape, value);
	if (!strcmp(name, "malformed"))
		return set_choice(name, nll_malformed_names, &c->malformed, value);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!strcmp(name, numbers[i].name))
			return set_number(c, &numbers[i], value);
	pr_notice(NLL_SOURCE_DRIVER ": '%s': no such name\n", name);
	return -EINVAL;
}

static int check(const struct nll_config *c)
{
	const char *fault = nll_rate_fault(&c->rate);

	if (fault) {
		pr_notice(NLL_SOURCE_DRIVER ": %s\n", fault);
		return -EINVAL;
	}
	if (c->duration_ns <= c->warmup_ms * (u64)NSEC_PER_MSEC) {
		pr_notice(NLL_SOURCE_DRIVER ": warmup_ms '%u': allowed is less than the duration\n",
			  c->warmup_ms);
		return -EINVAL;
	}
	return 0;
}

/**
 * nll_config_parse() - change some of the configuration, or nothing
 * @config: the configuration
 * @text: names and values, separated by blanks; it is modified
 *
 * Return: 0, or -EINVAL after a line in the kernel's log that names the error.
 */
int nll_config_parse(struct nll_config *config, char *text)
{
	struct nll_config c = *config;
	char *name, *value;
	int error;

	text = strim(text);
	while (text) {
		name = strsep(&text, " \t\n");
		if (!*name)
			continue;
		text = text ? skip_spaces(text) : NULL;
		value = strsep(&text, " \t\n");
		if (!value) {
			pr_notice(NLL_SOURCE_DRIVER ": %s: no value\n", name);
			return -EINVAL;
		}
		error = set_one(&c, name, value);
		if (error)
			return error;
	}
	error = check(&c);
	if (!error)
		*config = c;
	return error;
}

/* Print the configuration in the form that sets it again. Return: the length. */
int nll_config_show(const struct nll_config *c, char *text, size_t size)
{
	unsigned int i;
	int used;

	used = scnprintf(text, size, "function %s\nmalformed %s\n", nll_rate_names[c->rate.shape],
			 nll_malformed_names[c->malformed]);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		used += scnprintf(text + used, size - used, "%s %llu\n", numbers[i].name,
				  get(c, &numbers[i]));
	return used;
}

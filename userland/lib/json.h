/* SPDX-License-Identifier: GPL-2.0 */
/*
 * json.h - JSON on stdout, one object a line. In a list, members have no key: NULL.
 */
#ifndef LAB_JSON_H
#define LAB_JSON_H

#include "types.h"

#define JSON_DEPTH_MAX	8U

/* What made it; NULL: the program. */
extern const char *json_tool;

/* Open an object; its first member is "tool". */
void json_open(void);

void json_text(const char *key, const char *value);
void json_number(const char *key, u64 value);
void json_signed(const char *key, s64 value);
/* Not a number and infinities become null: JSON has no word for them. */
void json_real(const char *key, double value);
/* Seconds, to the nanosecond. */
void json_seconds(const char *key, u64 ns);
void json_bool(const char *key, bool value);

/* A member that is an object or a list, until json_end(). */
void json_object(const char *key);
void json_list(const char *key);
void json_end(void);

/* Close all that is open, and the line, and hand the line out. */
void json_close(void);

#endif /* LAB_JSON_H */

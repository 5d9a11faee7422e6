/* SPDX-License-Identifier: GPL-2.0 */
/*
 * document.h - the one JSON document of an instrument: what it ran on, what it was told,
 * what it found.
 *
 *	document_begin(); ... measure ...
 *	document_open();
 *	json_object("settings"); ... json_end();
 *	json_list("results"); json_object(NULL); ... json_end(); ... json_end();
 *	json_close();
 */
#ifndef LAB_DOCUMENT_H
#define LAB_DOCUMENT_H

#include <time.h>

#include "histogram.h"

/* Of the names and units in the document: raised when a reader must know of a change. */
#define DOCUMENT_SCHEMA	1U

/* Take the time, when the measurement begins. */
void document_begin(void);

/*
 * Open the document: tool, schema, version, time (UTC, ISO 8601), host, kernel, machine,
 * CPU model and number of CPUs that may be used.
 */
void document_open(void);

/* The same of a measurement that began then. */
void document_open_of(time_t when);

/* UTC, ISO 8601. */
#define DOCUMENT_TIME	32
const char *document_time(time_t when, char text[DOCUMENT_TIME]);

/*
 * All samples, as a list @name of [from, to, count]: each end less @offset, times @unit.
 * An empty list when there are none.
 */
void document_buckets(const char *name, const struct histogram *h, double offset, double unit);

#endif /* LAB_DOCUMENT_H */

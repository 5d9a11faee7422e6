/* SPDX-License-Identifier: GPL-2.0 */
/* words.h - words through file descriptors. */
#ifndef IPCLAT_WORDS_H
#define IPCLAT_WORDS_H

#include "types.h"

/* Whole words only; exit with EXIT_FAILED, naming @what, otherwise. */
void write_word(const char *what, int fd, u64 word);
u64 read_word(const char *what, int fd);

#endif /* IPCLAT_WORDS_H */

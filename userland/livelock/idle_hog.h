/* SPDX-License-Identifier: GPL-2.0 */
/*
 * idle_hog.h - a hog that takes only what no other process wants of the CPU.
 *
 * QEMU 7.2 lets an idle CPU's virtual time leap to the next timer in another
 * host thread than that which counts its instructions. Now and then, on a loaded
 * host, that one has not yet counted those up to the halt, and time leaps by as
 * much too far. A guest that repeats exactly is never idle.
 */
#ifndef LIVELOCK_IDLE_HOG_H
#define LIVELOCK_IDLE_HOG_H

/* Start it; it dies with the caller. Exits with EXIT_FAILED when that fails. */
void idle_hog_start(void);

/* From now on the caller takes only what no other process wants of the CPU. */
void idle_hog_become(void);

/*
 * Stop it before another hog wants the whole CPU, and let it go on before that one
 * ends. Without an idle hog they do nothing.
 */
void idle_hog_pause(void);
void idle_hog_resume(void);

#endif /* LIVELOCK_IDLE_HOG_H */

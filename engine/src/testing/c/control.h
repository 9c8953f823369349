// SPDX-License-Identifier: Apache-2.0
/*
 * How a test controls a fake of a vendor's library, and how the fake queries its settings. Compiled into each
 * fake, which has a state of its own. Functions are named as in the vendor's manual; a trailing "_v2" is ignored.
 */
#ifndef PENSTOCK_CONTROL_H
#define PENSTOCK_CONTROL_H

#include <stddef.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

/* For the test. */

/* Ends all that runs, frees all that lives, forgets calls, orders, properties and the complaint. */
EXPORT void fake_reset(void);
/*
 * The nth next call of the function answers code (0: all from now on; negative: forget what was ordered). err is the CUDA
 * error in the answers of libcufile, or errno where code is -1. "late:NAME": the call is accepted, the operation fails.
 */
EXPORT void fake_fail(const char *function, long nth, long code, long err);
/* Each operation of the function takes so long more. */
EXPORT void fake_delay(const char *function, long micros);
/* Each operation of the function moves at most so many bytes; negative: all. */
EXPORT void fake_short(const char *function, long bytes);
/* Operations of the function start, and neither move data nor end before they are released. */
EXPORT void fake_hold(const char *function);
EXPORT void fake_release(const char *function);
EXPORT long fake_held(const char *function);
/* Waits until so many operations of the function are held, or so many calls of it were made; answers how many it is. */
EXPORT long fake_await_held(const char *function, long operations, long millis);
EXPORT long fake_await_calls(const char *function, long calls, long millis);
EXPORT long fake_calls(const char *function);
/* How many of a kind live: handles, buffers, batches, streams, events, contexts, allocations, bytes, pinned, ... */
EXPORT long fake_live(const char *kind);
/* Waits until at most so many live. */
EXPORT long fake_await_live(const char *kind, long most, long millis);
/* The first wrong use that a vendor's library need not notice, or null. */
EXPORT const char *fake_complaint(void);
EXPORT void fake_forgive(void);
EXPORT void fake_set(const char *property, long value);

/* For the fake. None of these is called with its lock held but complain, live, property and shortened. */

struct answer {
    long code;
    long err;
};

/* Counts a call. True if it must fail, with this answer. */
int called(const char *function, struct answer *answer);
/* An operation is carried out: waits as long as set. */
void carry_out(const char *function);
/* True if that would take time now. */
int slowed(const char *function);
/* True if an operation that was accepted must fail. */
int fails_late(const char *function, struct answer *answer);
size_t shortened(const char *function, size_t bytes);
long property(const char *name, long fallback);
void live(const char *kind, long more);
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* True while a reset ends what runs. */
int stopping(void);
void values_reset(void);
/* The time of the wall clock in so many milliseconds. */
struct timespec in_millis(long millis);
/* What each library has to forget. Nothing is held any more, and stopping() is true meanwhile. */
void reset_library(void);

#endif

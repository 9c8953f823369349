// SPDX-License-Identifier: Apache-2.0
/* Batches (the guide, 3.3.6; the reference, 5.5). */
#include "batch.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

enum { CUFILE_BATCH = 1 };

static struct batch *batches;

static struct batch *batch_of(void *handle, const char *function) {
    struct batch *batch = handle_get(handle, BATCH_HANDLE);
    if (!batch && handle_ended(handle, BATCH_HANDLE)) complain("%s: the batch was destroyed", function);
    return batch;
}

static unsigned in_state(const struct batch *batch, enum state state) {
    unsigned count = 0;
    for (unsigned i = 0; i < batch->capacity; i++) count += batch->entries[i].state == state;
    return count;
}

static void release(struct batch *batch) {
    struct batch **link = &batches;
    while (*link != batch) link = &(*link)->next;
    *link = batch->next;
    free(batch->entries);
    free(batch);
}

static void forget(struct entry *entry) {
    pool_give_back(entry);
    entry->state = UNUSED;
}

void entry_done(struct entry *entry, int status, long result) {
    struct batch *batch = entry->batch;
    entry->state = DONE;
    entry->status = status;
    entry->result = result;
    file_use(entry->file, -1);
    live("entries", -1);
    if (batch->ended) forget(entry);
    if (batch->ended && !in_state(batch, RUNNING)) release(batch);
    pthread_cond_broadcast(&cufile_progress);
}

EXPORT CUfileError_t cuFileBatchIOSetUp(void **handle, unsigned capacity) {
    CALLED(AT_ONCE);
    LOCK();
    int error = driver_needed(__func__);
    unsigned most = (unsigned)property("max_batch_io_size", (long)size_parameter(IO_BATCH_SIZE));
    if (!error && capacity > most) complain("%s: a batch of %u, where %u is the limit", __func__, capacity, most);
    /* The reference, 5.5.1: between 1 and io_batchsize, and one error for all failures. */
    if (!error && (!handle || !capacity || capacity > most)) error = INTERNAL;
    if (!error) {
        struct batch *made = calloc(1, sizeof *made);
        if (!made || !(made->entries = calloc(capacity, sizeof *made->entries))) abort();
        made->capacity = capacity;
        made->handle = handle_new(BATCH_HANDLE, made);
        made->next = batches;
        batches = made;
        live("batches", 1);
        *handle = made->handle;
    }
    UNLOCK();
    count_call(BATCH_SETUP, error);
    return RESULT(error);
}

static int check(const struct parameters *io, struct file **file) {
    *file = file_of(io->handle, "cuFileBatchIOSubmit");
    if (!*file) return HANDLE_NOT_REGISTERED;
    if (io->mode != CUFILE_BATCH || (io->opcode != READ && io->opcode != WRITE) || !io->size) return INVALID;
    return OK;
}

static struct entry *unused_entry(struct batch *batch) {
    for (unsigned i = 0; i < batch->capacity; i++)
        if (batch->entries[i].state == UNUSED) return &batch->entries[i];
    abort();
}

/*
 * Seen on an H200: a batch that needs more bounce buffers than there are hangs without an error. What is in flight of all
 * batches of the process, to the last unread event, counts.
 */
static int overdrawn(void) {
    size_t needed[BOUNCES] = {0};
    for (const struct batch *batch = batches; batch; batch = batch->next) {
        for (unsigned i = 0; i < batch->capacity; i++) {
            const struct entry *entry = &batch->entries[i];
            if (entry->state != UNUSED && entry->bounce >= 0) needed[entry->bounce] += entry->bounces;
        }
    }
    for (int i = 0; i < BOUNCES; i++) {
        if (needed[i] <= pool_size(i)) continue;
        complain("cuFileBatchIOSubmit: %zu bounce buffers needed where there are %zu: the batch hangs", needed[i],
                 pool_size(i));
        return 1;
    }
    return 0;
}

static void take(struct batch *batch, const struct parameters *io, struct entry **taken) {
    struct entry *entry = unused_entry(batch);
    *entry = (struct entry){.batch = batch, .state = QUEUED, .io = *io, .theirs = io};
    (void)check(io, &entry->file);
    file_use(entry->file, 1);
    live("entries", 1);
    pool_need(entry);
    *taken = entry;
}

static int submit(struct batch *batch, unsigned count, const struct parameters *io, unsigned flags) {
    if (!count || !io || flags) return INVALID;
    if (fake_cuda_current_device() < 0) {
        complain("cuFileBatchIOSubmit called by a thread without a context");
        return INVALID_CONTEXT;
    }
    if (count > in_state(batch, UNUSED)) {
        complain("cuFileBatchIOSubmit: %u entries where %u are unused", count, in_state(batch, UNUSED));
        return BATCH_FULL;
    }
    struct file *file;
    for (unsigned i = 0; i < count; i++) {
        int error = check(&io[i], &file);
        if (error) return error;
        if (!file_for_batches(file)) return BATCH_SUBMIT_ERROR;
    }
    struct entry **taken = calloc(count, sizeof *taken);
    if (!taken) abort();
    for (unsigned i = 0; i < count; i++) take(batch, &io[i], &taken[i]);
    int stuck = overdrawn();
    for (unsigned i = 0; i < count; i++) {
        taken[i]->stuck = stuck;
        pool_queue(taken[i]);
    }
    free(taken);
    return OK;
}

EXPORT CUfileError_t cuFileBatchIOSubmit(void *handle, unsigned count, struct parameters *io, unsigned flags) {
    CALLED(LATER);
    LOCK();
    struct batch *batch = batch_of(handle, __func__);
    int error = batch ? submit(batch, count, io, flags) : INVALID;
    UNLOCK();
    count_call(BATCH_SUBMIT, error);
    return RESULT(error);
}

/* Events that were told before, and what has not ended. */
static unsigned other_events(struct batch *batch, unsigned count, unsigned most, struct io_event *events) {
    if (property("batch_repeats", 0) && batch->told.cookie && count < most) {
        events[count++] = batch->told;
        batch->told.cookie = NULL;
    }
    for (unsigned i = 0; property("batch_pending", 0) && i < batch->capacity && count < most; i++) {
        const struct entry *entry = &batch->entries[i];
        if (entry->state != QUEUED && entry->state != RUNNING) continue;
        events[count++] = (struct io_event){entry->io.cookie, entry->state == QUEUED ? WAITING : PENDING, 0};
    }
    return count;
}

static unsigned read_events(struct batch *batch, unsigned most, struct io_event *events) {
    struct io_event last = {0};
    unsigned count = 0;
    for (unsigned i = 0; i < batch->capacity && count < most; i++) {
        struct entry *entry = &batch->entries[i];
        if (entry->state != DONE) continue;
        last = (struct io_event){entry->io.cookie, entry->status, (size_t)entry->result};
        events[count++] = last;
        count_call(BATCH_COMPLETE, entry->status != COMPLETE);
        forget(entry);
    }
    count = other_events(batch, count, most, events);
    if (last.cookie) batch->told = last;
    return count;
}

static struct timespec deadline(const struct timespec *timeout) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += timeout->tv_sec;
    until.tv_nsec += timeout->tv_nsec;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return until;
}

/* False if the batch was destroyed meanwhile. */
static int wait_for(void *handle, struct batch *batch, unsigned least, const struct timespec *timeout) {
    struct timespec until = {0};
    if (timeout) until = deadline(timeout);
    while (in_state(batch, DONE) < least && !stopping()) {
        int late = timeout ? pthread_cond_timedwait(&cufile_progress, &cufile_lock, &until)
                           : pthread_cond_wait(&cufile_progress, &cufile_lock);
        if (handle_get(handle, BATCH_HANDLE) != batch) return 0;
        if (late == ETIMEDOUT) break;
    }
    return !stopping();
}

EXPORT CUfileError_t cuFileBatchIOGetStatus(
        void *handle, unsigned least, unsigned *count, struct io_event *events, const struct timespec *timeout) {
    CALLED(AT_ONCE);
    LOCK();
    struct batch *batch = batch_of(handle, __func__);
    int error = batch && count && events && least <= *count ? OK : INVALID;
    unsigned all = batch ? batch->capacity - in_state(batch, UNUSED) : 0;
    if (!error && least > all) {
        complain("%s: waits for %u events where %u can come", __func__, least, all);
        least = all;
    }
    if (!error && !wait_for(handle, batch, least, timeout)) error = INVALID;
    if (!error) *count = read_events(batch, *count, events);
    UNLOCK();
    return RESULT(error);
}

/* Those that have not started; "no guarantee about canceling an ongoing operation". */
EXPORT CUfileError_t cuFileBatchIOCancel(void *handle) {
    CALLED(AT_ONCE);
    LOCK();
    struct batch *batch = batch_of(handle, __func__);
    for (unsigned i = 0; batch && i < batch->capacity; i++) {
        struct entry *entry = &batch->entries[i];
        if (entry->state != QUEUED) continue;
        pool_unqueue(entry);
        entry_done(entry, CANCELED, -ECANCELED);
    }
    UNLOCK();
    count_call(BATCH_CANCEL, !batch);
    return RESULT(batch ? OK : INVALID);
}

static void end(struct batch *batch) {
    for (unsigned i = 0; i < batch->capacity; i++) {
        struct entry *entry = &batch->entries[i];
        if (entry->state == QUEUED) {
            pool_unqueue(entry);
            entry_done(entry, CANCELED, -ECANCELED);
        }
        if (entry->state == DONE) forget(entry);
    }
    handle_end(batch->handle);
    live("batches", -1);
    batch->ended = 1;
    if (!in_state(batch, RUNNING)) release(batch);
    pthread_cond_broadcast(&cufile_progress);
}

EXPORT void cuFileBatchIODestroy(void *handle) {
    struct answer ignored;
    (void)called(__func__, &ignored);
    carry_out(__func__);
    LOCK();
    struct batch *batch = batch_of(handle, __func__);
    if (batch) {
        unsigned left = in_state(batch, QUEUED) + in_state(batch, RUNNING);
        if (left) complain("%s: %u entries are in flight", __func__, left);
        end(batch);
    } else {
        complain("%s: no such batch", __func__);
    }
    UNLOCK();
    count_call(BATCH_DESTROY, !batch);
}

long batches_end(void) {
    long count = 0;
    for (struct batch *batch = batches, *next; batch; batch = next) {
        next = batch->next;
        if (batch->ended) continue;
        count++;
        end(batch);
    }
    return count;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Threads that carry out the entries of batches, and the bounce buffers that these need: in compatibility mode each its
 * POSIX slab, with the kernel driver those that are unaligned or unregistered a segment of the GPU's cache (the guide, 3.3.3).
 * A buffer stays taken until the entry's event has been read.
 */
#define _GNU_SOURCE
#include "batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { THREADS = 32 };

static size_t taken[BOUNCES];
static struct entry *head;
static int threads, idle;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;

size_t pool_size(int bounce) {
    size_t sizes[SLABS], counts[SLABS];
    slabs(sizes, counts);
    if (bounce < SLABS) return counts[bounce];
    return size_parameter(MAX_DEVICE_CACHE_KB) / size_parameter(PER_BUFFER_CACHE_KB);
}

static int goes_directly(const struct entry *entry) {
    const struct parameters *io = &entry->io;
    int unaligned = (io->file_offset | io->buffer_offset | (off_t)(io->size | io->base)) % BLOCK != 0;
    return !file_is_posix(entry->file) && !unaligned && buffer_of(io->base);
}

/* Of the GPU that the memory is on. */
static int cache_of(const struct entry *entry) {
    struct memory_range range;
    fake_cuda_range(entry->io.base + (uint64_t)entry->io.buffer_offset, entry->io.size, &range);
    return GPU_CACHE + (range.type == MEMORY_DEVICE && range.device < GPUS ? range.device : 0);
}

void pool_need(struct entry *entry) {
    size_t sizes[SLABS], counts[SLABS], kb = (entry->io.size + 1023) / 1024;
    entry->bounce = -1;
    entry->bounces = 0;
    if (goes_directly(entry)) return;
    entry->bounces = 1;
    /* The reference, 4.7: what is larger than a bounce buffer of the GPU goes the way of compatibility mode. */
    if (!file_is_posix(entry->file) && kb <= size_parameter(PER_BUFFER_CACHE_KB)) {
        entry->bounce = cache_of(entry);
        return;
    }
    slabs(sizes, counts);
    entry->bounce = 0;
    while (entry->bounce < SLABS - 1 && kb > sizes[entry->bounce]) entry->bounce++;
    if (kb > sizes[SLABS - 1]) entry->bounces = (kb + sizes[SLABS - 1] - 1) / sizes[SLABS - 1];
}

static int can_start(const struct entry *entry) {
    return !entry->stuck && (entry->bounce < 0 || taken[entry->bounce] + entry->bounces <= pool_size(entry->bounce));
}

/* The first that can start, out of the queue, with its buffers. */
static struct entry *next_entry(void) {
    for (struct entry **link = &head; *link; link = &(*link)->next) {
        if (!can_start(*link)) continue;
        struct entry *entry = *link;
        *link = entry->next;
        entry->next = NULL;
        entry->state = RUNNING;
        if (entry->bounce >= 0) taken[entry->bounce] += entry->bounces;
        entry->has_bounces = entry->bounce >= 0;
        return entry;
    }
    return NULL;
}

/* The array of parameters must stay as it is until its entries are done. */
static void check_parameters(const struct entry *entry) {
    struct parameters now;
    struct iovec here = {&now, sizeof now}, there = {(void *)(uintptr_t)entry->theirs, sizeof now};
    memset(&now, 0, sizeof now);
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) < 0 && errno != EFAULT) return;
    if (now.base != entry->io.base || now.file_offset != entry->io.file_offset || now.size != entry->io.size
        || now.cookie != entry->io.cookie)
        complain("cuFileBatchIOSubmit: the array of parameters changed before its entries were done");
}

static void carry_out_entry(struct entry *entry) {
    UNLOCK();
    check_parameters(entry);
    struct io io = {"cuFileBatchIOSubmit", entry->file, (enum opcode)entry->io.opcode, entry->io.base, entry->io.size,
                    entry->io.file_offset, entry->io.buffer_offset};
    ssize_t result = transfer(&io, 0);
    if (result == -1) result = -errno;
    LOCK();
    entry_done(entry, result < 0 ? (int)property("batch_failure", FAILED) : COMPLETE, result);
}

static void *worker(void *unused) {
    (void)unused;
    LOCK();
    while (!stopping()) {
        struct entry *entry = next_entry();
        if (entry) {
            carry_out_entry(entry);
        } else {
            idle++;
            pthread_cond_wait(&work, &cufile_lock);
            idle--;
        }
    }
    threads--;
    pthread_cond_broadcast(&cufile_progress);
    UNLOCK();
    return NULL;
}

void pool_queue(struct entry *entry) {
    struct entry **link = &head;
    while (*link) link = &(*link)->next;
    *link = entry;
    entry->next = NULL;
    entry->state = QUEUED;
    if (!idle && threads < THREADS) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, worker, NULL)) abort();
        pthread_detach(thread);
        threads++;
    }
    pthread_cond_signal(&work);
}

void pool_unqueue(struct entry *entry) {
    for (struct entry **link = &head; *link; link = &(*link)->next) {
        if (*link != entry) continue;
        *link = entry->next;
        return;
    }
}

void pool_give_back(struct entry *entry) {
    if (entry->has_bounces) taken[entry->bounce] -= entry->bounces;
    entry->has_bounces = 0;
    pthread_cond_broadcast(&work);
}

void pool_reset(void) {
    LOCK();
    pthread_cond_broadcast(&work);
    pthread_cond_broadcast(&cufile_progress);
    while (threads) pthread_cond_wait(&cufile_progress, &cufile_lock);
    UNLOCK();
}

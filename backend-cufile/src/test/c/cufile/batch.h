// SPDX-License-Identifier: Apache-2.0
/* Batches, and the pool of threads and bounce buffers that carries them out. */
#ifndef PENSTOCK_BATCH_H
#define PENSTOCK_BATCH_H

#include "cufile.h"

enum status { WAITING = 1, PENDING = 2, INVALID_ENTRY = 4, CANCELED = 8, COMPLETE = 0x10, TIMEOUT = 0x20, FAILED = 0x40 };

/* CUfileIOParams_t: 64 bytes. */
struct parameters {
    int mode;
    uint64_t base;
    off_t file_offset, buffer_offset;
    size_t size;
    void *handle;
    int opcode;
    void *cookie;
};
_Static_assert(sizeof(struct parameters) == 64, "CUfileIOParams_t");

/* CUfileIOEvents_t: 24 bytes. */
struct io_event {
    void *cookie;
    int status;
    size_t result;
};
_Static_assert(sizeof(struct io_event) == 24, "CUfileIOEvents_t");

enum state { UNUSED = 0, QUEUED, RUNNING, DONE };
/* The kinds of bounce buffers: the POSIX slabs, which all GPUs share, and the cache of each GPU. */
enum { GPU_CACHE = SLABS, GPUS = 16, BOUNCES = GPU_CACHE + GPUS };

struct entry {
    struct batch *batch;
    enum state state;
    struct parameters io;
    const struct parameters *theirs; /* where the application keeps them */
    struct file *file;
    int bounce; /* its kind, or -1 */
    size_t bounces;
    int has_bounces;
    int stuck; /* no buffer will ever come */
    int status;
    long result;
    struct entry *next; /* of the queue */
};

struct batch {
    void *handle;
    unsigned capacity;
    int ended;
    struct entry *entries;
    struct io_event told; /* the last, if it is to come once more */
    struct batch *next;
};

/* pool.c; with the lock. */
void pool_need(struct entry *entry);
/* How many of a kind there are. */
size_t pool_size(int bounce);
void pool_queue(struct entry *entry);
void pool_unqueue(struct entry *entry);
/* The event was read, or will never be read. */
void pool_give_back(struct entry *entry);

/* batch.c; with the lock. */
void entry_done(struct entry *entry, int status, long result);

#endif

// SPDX-License-Identifier: Apache-2.0
// Threads that share an order, and the clock around their work: set-up before it does not count.
#include "peers.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 64, MOST_FILES = 8 };

struct Gang {
    pthread_barrier_t barrier;
    atomic_size_t next[MOST_DEVICES]; // of each GPU
    void (*work)(Worker *);
};

void part_begins(Worker *worker, size_t part) {
    if (worker->order->times && worker->order->stagingBuffers == 1) {
        worker->time = &worker->order->times[part];
        worker->begun = now_nanos();
    }
}

void part_ended(Worker *worker) {
    if (worker->time) {
        *worker->time = now_nanos() - worker->begun;
        worker->time = NULL;
    }
}

size_t next_part(Worker *worker, size_t *offset) {
    const Order *order = worker->order;
    size_t at = atomic_fetch_add_explicit(&worker->gang->next[worker->device], order->chunk, memory_order_relaxed);
    *offset = at;
    part_ended(worker);
    if (at >= order->bytes) {
        return 0;
    }
    part_begins(worker, at / order->chunk);
    return order->bytes - at < order->chunk ? order->bytes - at : order->chunk;
}

void gang_begin(Worker *worker) {
    pthread_barrier_wait(&worker->gang->barrier); // all are ready
    pthread_barrier_wait(&worker->gang->barrier); // and the clock has been read
}

void gang_end(Worker *worker) {
    pthread_barrier_wait(&worker->gang->barrier);
}

static void *begin(void *argument) {
    Worker *worker = argument;
    gpu_enter_device(worker->device);
    worker->gang->work(worker);
    return NULL;
}

Outcome gang_run(const Order *order, void (*work)(Worker *), size_t operations) {
    pthread_t threads[MOST_THREADS];
    Worker workers[MOST_THREADS];
    Gang gang = {.work = work};
    if (order->threads < 1 || order->threads > MOST_THREADS) {
        fail("%d threads", order->threads);
    }
    pthread_barrier_init(&gang.barrier, NULL, (unsigned)order->threads + 1);
    for (int i = 0; i < order->threads; i++) {
        workers[i] = (Worker){.order = order, .gang = &gang, .index = i, .device = i % order->devices};
        if (pthread_create(&threads[i], NULL, begin, &workers[i]) != 0) {
            fail("no thread %d", i);
        }
    }
    pthread_barrier_wait(&gang.barrier);
    int64_t cpu = cpu_nanos(), start = now_nanos();
    pthread_barrier_wait(&gang.barrier);
    pthread_barrier_wait(&gang.barrier);
    Outcome outcome = {operations, now_nanos() - start, 0, 0};
    outcome.cpu_nanos = cpu_nanos() - cpu;
    for (int i = 0; i < order->threads; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&gang.barrier);
    return outcome;
}

int by_nanos(const void *a, const void *b) {
    return (*(const int64_t *)a > *(const int64_t *)b) - (*(const int64_t *)a < *(const int64_t *)b);
}

typedef struct {
    char path[4096];
    int flags, fd;
    CUfileHandle_t handle;
} Opened;

static Opened files[MOST_FILES];

static Opened *opened(const char *path, int direct, int write) {
    int flags = (write ? O_RDWR | O_CREAT : O_RDONLY) | (direct ? O_DIRECT : 0);
    for (Opened *file = files; file < files + MOST_FILES; file++) {
        if (file->path[0] && file->flags == flags && strcmp(file->path, path) == 0) {
            return file;
        }
        if (!file->path[0]) {
            file->fd = open(path, flags, 0600);
            if (file->fd < 0 || strlen(path) >= sizeof file->path) {
                fail("open %s: %m", path);
            }
            strcpy(file->path, path);
            file->flags = flags;
            return file;
        }
    }
    fail("too many files");
}

int file_of(const char *path, int direct, int write) {
    return opened(path, direct, write)->fd;
}

CUfileHandle_t cufile_of(const Order *order) {
    static int ready;
    if (!ready) {
        cufile_load();
        CUFILE(cuFileDriverOpen());
        CUFILE(cuFileBufRegister((void *)(uintptr_t)order->memory, order->bytes, 0));
        ready = 1;
    }
    Opened *file = opened(order->write ? order->written : order->hot, order->direct, order->write);
    if (!file->handle) {
        CUfileDescr_t description = {.type = 1, .handle.fd = file->fd};
        CUFILE(cuFileHandleRegister(&file->handle, &description));
    }
    return file->handle;
}

const int64_t *gather_offsets(const Order *order) {
    static int64_t *offsets;
    static Order made; // for it
    if (made.blocks != order->blocks || made.bytes != order->bytes || made.chunk != order->chunk) {
        size_t blocks = order->bytes / order->chunk;
        uint64_t seed = 42;
        made = *order;
        free(offsets);
        offsets = malloc(order->blocks * sizeof *offsets);
        for (size_t i = 0; i < order->blocks; i++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            offsets[i] = (int64_t)((seed >> 20) % blocks * order->chunk);
        }
    }
    return offsets;
}

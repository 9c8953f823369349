// SPDX-License-Identifier: Apache-2.0
// What staging a file in the page cache to a GPU depends on: how many threads fill slots, how large slots are, how many each
// thread has, and over how many streams their copies go; before that, the same copies without a file.
//   c=benchmarks/src/main/c; gcc -O2 -pthread -I$c -o links benchmarks/experiments/links.c $c/gpu.c $c/check.c $c/gate.c -ldl && ./links /tmp/file 4096 5
// The file is made (second argument: MiB; the third: rounds). In each round all ways run once; a line for each: GB/s and
// processor seconds per GiB, each as median (least-most), and how many words were wrong at the end. 0 streams: one for each slot.
#include "gpu.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KIB = 1 << 10, MIB = 1 << 20, MOST_SLOTS = 64, MOST_ROUNDS = 32, ARENA = 512 * MIB, LINK_DEPTH = 16, LARGEST_MIB = 8 };
enum { CU_MEMHOSTALLOC_WRITECOMBINED = 4 };

typedef struct {
    int threads; // 0: copies alone
    size_t slot;
    int slots; // of each thread
    int streams;
    int combined; // whether slots are write-combined
    double rates[MOST_ROUNDS], costs[MOST_ROUNDS];
    uint64_t wrong;
} Way;

static Way *way;
static size_t all;
static int file;
static CUdeviceptr memory;
static char *arenas[2];
static CUstream streams[MOST_SLOTS];
static CUevent events[MOST_SLOTS];
static atomic_size_t next;
static pthread_barrier_t barrier;

static CUstream stream_of(int slot) {
    return streams[way->streams ? slot % way->streams : slot];
}

static void copy(size_t at, const char *from, size_t bytes, int slot) {
    CUDA(cuMemcpyHtoDAsync_v2(memory + at, from, bytes, stream_of(slot)));
    CUDA(cuEventRecord(events[slot], stream_of(slot)));
}

static void *fill(void *number) {
    int first = (int)(intptr_t)number * way->slots;
    gpu_enter();
    pthread_barrier_wait(&barrier);
    for (int turn = 0;; turn++) {
        size_t at = atomic_fetch_add(&next, way->slot);
        if (at >= all) break;
        int slot = first + turn % way->slots;
        char *into = arenas[way->combined] + way->slot * (size_t)slot;
        if (turn >= way->slots) CUDA(cuEventSynchronize(events[slot]));
        if (pread(file, into, way->slot, (off_t)at) != (ssize_t)way->slot) fail("pread: %m");
        copy(at, into, way->slot, slot);
    }
    for (int slot = first; slot < first + way->slots; slot++) CUDA(cuEventSynchronize(events[slot]));
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void fill_all(void) {
    pthread_t threads[MOST_SLOTS];
    for (int i = 0; i < way->threads; i++) pthread_create(&threads[i], NULL, fill, (void *)(intptr_t)i);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < way->threads; i++) pthread_join(threads[i], NULL);
}

static void copy_all(void) {
    for (size_t at = 0; at < all; at += way->slot) {
        int slot = (int)(at / way->slot % LINK_DEPTH);
        if (at >= LINK_DEPTH * way->slot) CUDA(cuEventSynchronize(events[slot]));
        copy(at, arenas[way->combined] + way->slot * (size_t)slot, way->slot, slot);
    }
    for (int slot = 0; slot < LINK_DEPTH; slot++) CUDA(cuEventSynchronize(events[slot]));
}

static void run(Way *one, int round) {
    way = one;
    next = 0;
    pthread_barrier_init(&barrier, NULL, (unsigned)way->threads + 1);
    int64_t cpu = cpu_nanos(), start = now_nanos();
    way->threads ? fill_all() : copy_all();
    double seconds = (double)(now_nanos() - start) / 1e9;
    pthread_barrier_destroy(&barrier);
    if (round < 0) return;
    way->rates[round] = (double)all / 1e9 / seconds;
    way->costs[round] = (double)(cpu_nanos() - cpu) / 1e9 / ((double)all / (1 << 30));
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void say(Way *one, int rounds) {
    qsort(one->rates, (size_t)rounds, sizeof(double), by_size);
    qsort(one->costs, (size_t)rounds, sizeof(double), by_size);
    printf("%2d threads, %d slots of %5zu KiB, %2d streams%s: %5.2f (%.2f-%.2f) GB/s, %.3f (%.3f-%.3f) CPU s/GiB, %llu words wrong\n",
           one->threads, one->slots, one->slot / KIB, one->streams, one->combined ? ", write-combined" : "",
           one->rates[rounds / 2], one->rates[0], one->rates[rounds - 1], one->costs[rounds / 2], one->costs[0],
           one->costs[rounds - 1], (unsigned long long)one->wrong);
}

static void make(const char *path) {
    file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (size_t at = 0; at < all; at += ARENA) {
        size_t part = all - at < ARENA ? all - at : ARENA;
        gpu_fill(memory, part, at);
        CUDA(cuMemcpyDtoHAsync_v2(arenas[0], memory, part, NULL));
        CUDA(cuStreamSynchronize(NULL));
        for (size_t done = 0; done < part;) {
            ssize_t more = file < 0 ? -1 : write(file, arenas[0] + done, part - done);
            if (more <= 0) fail("%s: %m", path);
            done += (size_t)more;
        }
    }
}

int main(int count, char **arguments) {
    static const int link_streams[] = {0, 1, 2, 4}, threads[] = {6, 8, 9, 10, 12, 16}, few[] = {8, 10, 12};
    static const size_t kib[] = {512, 1024, 2048, 4096, 8192};
    static Way ways[400];
    int rounds = count == 4 ? atoi(arguments[3]) : 0, made = 0;
    if (rounds < 1 || rounds > MOST_ROUNDS) fail("links FILE MIB ROUNDS");
    all = strtoull(arguments[2], NULL, 10) * MIB;
    if (all == 0 || all % (LARGEST_MIB * MIB)) fail("%s MiB: a file of whole slots, %d MiB each", arguments[2], LARGEST_MIB);
    gpu_open();
    CUDA(cuMemAlloc_v2(&memory, all));
    CUDA(cuMemHostAlloc((void **)&arenas[0], ARENA, 0));
    CUDA(cuMemHostAlloc((void **)&arenas[1], ARENA, CU_MEMHOSTALLOC_WRITECOMBINED));
    for (int i = 0; i < MOST_SLOTS; i++) {
        CUDA(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        CUDA(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
    }
    make(arguments[1]);
    for (int k = 0; k < 5; k++)
        for (int s = 0; s < 4; s++)
            ways[made++] = (Way){.slot = kib[k] * KIB, .slots = LINK_DEPTH, .streams = link_streams[s]};
    for (int t = 0; t < 6; t++)
        for (int k = 0; k < 5; k++)
            for (int n = 2; n <= 3; n++)
                for (int s = 0; s < 3; s++)
                    if ((size_t)(threads[t] * n) * kib[k] * KIB <= ARENA && threads[t] * n <= MOST_SLOTS)
                        ways[made++] = (Way){.threads = threads[t], .slot = kib[k] * KIB, .slots = n, .streams = link_streams[s]};
    for (int t = 0; t < 3; t++)
        for (int k = 1; k < 4; k++)
            for (int s = 0; s < 2; s++)
                ways[made++] = (Way){.threads = few[t], .slot = kib[k] * KIB, .slots = 2, .streams = link_streams[s], .combined = 1};
    for (int round = -1; round < rounds; round++)
        for (int i = 0; i < made; i++) run(&ways[i], round);
    for (int i = 0; i < made; i++) {
        if (ways[i].threads) {
            run(&ways[i], -1);
            ways[i].wrong = gpu_differences(memory, all, 0);
        }
        say(&ways[i], rounds);
    }
    unlink(arguments[1]);
    return 0;
}

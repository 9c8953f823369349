// SPDX-License-Identifier: Apache-2.0
// What staging a file in the page cache to a GPU depends on: how many threads fill staging buffers, how large staging buffers are, how many each
// thread has, and over how many streams their copies go; before that, the same copies without a file.
//   c=benchmarks/src/main/c; gcc -O2 -pthread -I$c -o links benchmarks/experiments/links.c $c/gpu.c $c/check.c $c/gate.c -ldl && ./links /tmp/file 4096 5
// The file is made (second argument: MiB; the third: rounds). In each round all ways run once; a line for each: GB/s and
// processor seconds per GiB, each as median (least-most), and how many words were wrong at the end. 0 streams: one for each staging buffer.
#include "gpu.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KIB = 1 << 10, MIB = 1 << 20, MOST_BUFFERS = 64, MOST_ROUNDS = 32, ARENA = 512 * MIB, LINK_DEPTH = 16, LARGEST_MIB = 8 };
enum { CU_MEMHOSTALLOC_WRITECOMBINED = 4 };

typedef struct {
    int threads; // 0: copies alone
    size_t staging;
    int stagingBuffers; // of each thread
    int streams;
    int combined; // whether staging buffers are write-combined
    double rates[MOST_ROUNDS], costs[MOST_ROUNDS];
    uint64_t wrong;
} Variant;

static Variant *variant;
static size_t all;
static int file;
static CUdeviceptr memory;
static char *arenas[2];
static CUstream streams[MOST_BUFFERS];
static CUevent events[MOST_BUFFERS];
static atomic_size_t next;
static pthread_barrier_t barrier;

static CUstream stream_of(int staging) {
    return streams[variant->streams ? staging % variant->streams : staging];
}

static void copy(size_t at, const char *from, size_t bytes, int staging) {
    CUDA(cuMemcpyHtoDAsync_v2(memory + at, from, bytes, stream_of(staging)));
    CUDA(cuEventRecord(events[staging], stream_of(staging)));
}

static void *fill(void *number) {
    int first = (int)(intptr_t)number * variant->stagingBuffers;
    gpu_enter();
    pthread_barrier_wait(&barrier);
    for (int turn = 0;; turn++) {
        size_t at = atomic_fetch_add(&next, variant->staging);
        if (at >= all) break;
        int staging = first + turn % variant->stagingBuffers;
        char *into = arenas[variant->combined] + variant->staging * (size_t)staging;
        if (turn >= variant->stagingBuffers) CUDA(cuEventSynchronize(events[staging]));
        if (pread(file, into, variant->staging, (off_t)at) != (ssize_t)variant->staging) fail("pread: %m");
        copy(at, into, variant->staging, staging);
    }
    for (int staging = first; staging < first + variant->stagingBuffers; staging++) CUDA(cuEventSynchronize(events[staging]));
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void fill_all(void) {
    pthread_t threads[MOST_BUFFERS];
    for (int i = 0; i < variant->threads; i++) pthread_create(&threads[i], NULL, fill, (void *)(intptr_t)i);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < variant->threads; i++) pthread_join(threads[i], NULL);
}

static void copy_all(void) {
    for (size_t at = 0; at < all; at += variant->staging) {
        int staging = (int)(at / variant->staging % LINK_DEPTH);
        if (at >= LINK_DEPTH * variant->staging) CUDA(cuEventSynchronize(events[staging]));
        copy(at, arenas[variant->combined] + variant->staging * (size_t)staging, variant->staging, staging);
    }
    for (int staging = 0; staging < LINK_DEPTH; staging++) CUDA(cuEventSynchronize(events[staging]));
}

static void run(Variant *one, int round) {
    variant = one;
    next = 0;
    pthread_barrier_init(&barrier, NULL, (unsigned)variant->threads + 1);
    int64_t cpu = cpu_nanos(), start = now_nanos();
    variant->threads ? fill_all() : copy_all();
    double seconds = (double)(now_nanos() - start) / 1e9;
    pthread_barrier_destroy(&barrier);
    if (round < 0) return;
    variant->rates[round] = (double)all / 1e9 / seconds;
    variant->costs[round] = (double)(cpu_nanos() - cpu) / 1e9 / ((double)all / (1 << 30));
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void say(Variant *one, int rounds) {
    qsort(one->rates, (size_t)rounds, sizeof(double), by_size);
    qsort(one->costs, (size_t)rounds, sizeof(double), by_size);
    printf("%2d threads, %d staging buffers of %5zu KiB, %2d streams%s: %5.2f (%.2f-%.2f) GB/s, %.3f (%.3f-%.3f) CPU s/GiB, %llu words wrong\n",
           one->threads, one->stagingBuffers, one->staging / KIB, one->streams, one->combined ? ", write-combined" : "",
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
    static Variant variants[400];
    int rounds = count == 4 ? atoi(arguments[3]) : 0, made = 0;
    if (rounds < 1 || rounds > MOST_ROUNDS) fail("links FILE MIB ROUNDS");
    all = strtoull(arguments[2], NULL, 10) * MIB;
    if (all == 0 || all % (LARGEST_MIB * MIB)) fail("%s MiB: a file of whole staging buffers, %d MiB each", arguments[2], LARGEST_MIB);
    gpu_open();
    CUDA(cuMemAlloc_v2(&memory, all));
    CUDA(cuMemHostAlloc((void **)&arenas[0], ARENA, 0));
    CUDA(cuMemHostAlloc((void **)&arenas[1], ARENA, CU_MEMHOSTALLOC_WRITECOMBINED));
    for (int i = 0; i < MOST_BUFFERS; i++) {
        CUDA(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        CUDA(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
    }
    make(arguments[1]);
    for (int k = 0; k < 5; k++)
        for (int s = 0; s < 4; s++)
            variants[made++] = (Variant){.staging = kib[k] * KIB, .stagingBuffers = LINK_DEPTH, .streams = link_streams[s]};
    for (int t = 0; t < 6; t++)
        for (int k = 0; k < 5; k++)
            for (int n = 2; n <= 3; n++)
                for (int s = 0; s < 3; s++)
                    if ((size_t)(threads[t] * n) * kib[k] * KIB <= ARENA && threads[t] * n <= MOST_BUFFERS)
                        variants[made++] = (Variant){.threads = threads[t], .staging = kib[k] * KIB, .stagingBuffers = n, .streams = link_streams[s]};
    for (int t = 0; t < 3; t++)
        for (int k = 1; k < 4; k++)
            for (int s = 0; s < 2; s++)
                variants[made++] = (Variant){.threads = few[t], .staging = kib[k] * KIB, .stagingBuffers = 2, .streams = link_streams[s], .combined = 1};
    for (int round = -1; round < rounds; round++)
        for (int i = 0; i < made; i++) run(&variants[i], round);
    for (int i = 0; i < made; i++) {
        if (variants[i].threads) {
            run(&variants[i], -1);
            variants[i].wrong = gpu_differences(memory, all, 0);
        }
        say(&variants[i], rounds);
    }
    unlink(arguments[1]);
    return 0;
}

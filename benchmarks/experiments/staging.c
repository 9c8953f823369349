// SPDX-License-Identifier: Apache-2.0
// Whether a staging worker's staging buffers should be registered with an io_uring: pread/pwrite against a ring for each thread, by address,
// registered (READ_FIXED, WRITE_FIXED), and registered with two staging buffers at once.
//   gcc -O2 -pthread -o staging buffers benchmarks/experiments/staging.c && ./staging buffers /tmp/file 1024 9
// The file is made (second argument: MiB; the third: rounds; more: sizes of segments in KiB, 4096h for staging buffers of huge pages), and
// its neighbour FILE.out is written. ONLY=direct or ONLY=cached in the environment leaves out the other. In each round all ways of
// a row run once, in an order that is turned round after each; threads take the next segment from a counter, as staging workers do.
// Columns: GB/s and processor seconds per GiB (threads of the kernel's that work for the ring included), each as median
// (least-most), then the medians of both against pread in the same round.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 16, MOST_ROUNDS = 64, DEPTH = 2, ENTRIES = 4, CALL = 0, ADDRESS, FIXED, FIXED_TWICE, WAYS };
static const char *const NAMES[WAYS] = {"pread/pwrite", "ring, by address", "ring, registered", "ring, registered, 2 at once"};
#define CHECK(x) do { if (!(x)) { fprintf(stderr, "%s: %s\n", #x, strerror(errno)); exit(1); } } while (0)

typedef struct { int direct, write, threads, huge; size_t segment; } Row;
typedef struct { int fd; char *sq, *cq; struct io_uring_sqe *sqes; struct io_uring_params p; } Ring;

static Row row;
static int variant, file;
static size_t all;
static atomic_size_t next;
static pthread_barrier_t barrier;

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static double cpu(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void ring_open(Ring *ring, struct iovec *stagingBuffers) {
    memset(ring, 0, sizeof *ring);
    ring->fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &ring->p);
    CHECK(ring->fd >= 0);
    size_t bytes = ring->p.cq_off.cqes + ring->p.cq_entries * sizeof(struct io_uring_cqe) + 4096;
    ring->sq = ring->cq = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd, IORING_OFF_SQ_RING);
    ring->sqes = mmap(NULL, ENTRIES * sizeof *ring->sqes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd, IORING_OFF_SQES);
    CHECK(ring->sq != MAP_FAILED && ring->sqes != MAP_FAILED);
    if (variant >= FIXED) CHECK(syscall(SYS_io_uring_register, ring->fd, IORING_REGISTER_BUFFERS, stagingBuffers, DEPTH) == 0);
}
static unsigned *word(Ring *ring, unsigned offset) { return (unsigned *)(ring->sq + offset); }
static void ring_put(Ring *ring, struct iovec staging, unsigned index, size_t at, size_t bytes) {
    unsigned tail = *word(ring, ring->p.sq_off.tail), i = tail & *word(ring, ring->p.sq_off.ring_mask);
    unsigned char fixed = row.write ? IORING_OP_WRITE_FIXED : IORING_OP_READ_FIXED, plain = row.write ? IORING_OP_WRITE : IORING_OP_READ;
    ring->sqes[i] = (struct io_uring_sqe){.opcode = variant >= FIXED ? fixed : plain, .fd = file, .off = at,
            .addr = (__u64)(uintptr_t)staging.iov_base, .len = (unsigned)bytes, .buf_index = (__u16)index, .user_data = index};
    word(ring, ring->p.sq_off.array)[i] = i;
    atomic_store_explicit((_Atomic unsigned *)word(ring, ring->p.sq_off.tail), tail + 1, memory_order_release);
}
// Waits for one, and returns which staging buffer it was; short counts are not to be had from a file that is long enough.
static unsigned ring_take(Ring *ring, unsigned fresh, size_t bytes) {
    unsigned head = *word(ring, ring->p.cq_off.head);
    for (;;) {
        unsigned tail = atomic_load_explicit((_Atomic unsigned *)word(ring, ring->p.cq_off.tail), memory_order_acquire);
        if (fresh == 0 && tail != head) break;
        long took = syscall(SYS_io_uring_enter, ring->fd, fresh, 1, IORING_ENTER_GETEVENTS, NULL, 0);
        CHECK(took >= 0 || errno == EINTR);
        fresh -= took > 0 ? (unsigned)took : 0;
    }
    struct io_uring_cqe *cqe = (struct io_uring_cqe *)(ring->sq + ring->p.cq_off.cqes) + (head & *word(ring, ring->p.cq_off.ring_mask));
    unsigned staging = (unsigned)cqe->user_data;
    if (cqe->res != (int)bytes) { fprintf(stderr, "%s of %zu -> %d\n", NAMES[variant], bytes, cqe->res); exit(1); }
    atomic_store_explicit((_Atomic unsigned *)word(ring, ring->p.cq_off.head), head + 1, memory_order_release);
    return staging;
}

static int take(size_t *at) { *at = atomic_fetch_add(&next, row.segment); return *at < all; }

static void *worker(void *unused) {
    struct iovec stagingBuffers[DEPTH];
    Ring ring;
    size_t at;
    for (int i = 0; i < DEPTH; i++) {
        char *map = mmap(NULL, row.segment + (4 << 20), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(map != MAP_FAILED);
        stagingBuffers[i] = (struct iovec){(void *)(((uintptr_t)map + (2 << 20) - 1) & -(uintptr_t)(2 << 20)), row.segment};
        if (row.huge) madvise(stagingBuffers[i].iov_base, row.segment, MADV_HUGEPAGE);
        memset(stagingBuffers[i].iov_base, 7, row.segment);
    }
    if (variant != CALL) ring_open(&ring, stagingBuffers);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    if (variant == CALL) {
        while (take(&at)) {
            ssize_t n = row.write ? pwrite(file, stagingBuffers[0].iov_base, row.segment, (off_t)at) : pread(file, stagingBuffers[0].iov_base, row.segment, (off_t)at);
            CHECK(n == (ssize_t)row.segment);
        }
    } else {
        unsigned depth = variant == FIXED_TWICE ? 2 : 1, busy = 0, fresh = 0;
        for (; busy < depth && take(&at); busy++, fresh++) ring_put(&ring, stagingBuffers[busy], busy, at, row.segment);
        while (busy > 0) {
            unsigned staging = ring_take(&ring, fresh, row.segment);
            fresh = (unsigned)take(&at);
            if (fresh) ring_put(&ring, stagingBuffers[staging], staging, at, row.segment); else busy--;
        }
    }
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier); // the clock has been read
    if (variant != CALL) close(ring.fd);
    for (int i = 0; i < DEPTH; i++) munmap(stagingBuffers[i].iov_base, row.segment); // their edges go with the process
    return unused;
}

static void run(double *rate, double *cost) {
    pthread_t threads[MOST_THREADS];
    pthread_barrier_init(&barrier, NULL, (unsigned)row.threads + 1);
    atomic_store(&next, 0);
    for (int i = 0; i < row.threads; i++) CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    pthread_barrier_wait(&barrier);
    double started = now(), spent = cpu();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    *rate = (double)all / (now() - started) / 1e9;
    *cost = (cpu() - spent) / ((double)all / (1 << 30));
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < row.threads; i++) pthread_join(threads[i], NULL);
}

static int ascending(const void *a, const void *b) { double x = *(const double *)a, y = *(const double *)b; return (x > y) - (x < y); }
static double median(double *of, int count) { qsort(of, (size_t)count, sizeof *of, ascending); return of[count / 2]; }

static void measure(Row which, const char *path, size_t bytes, int rounds) {
    static double rate[WAYS][MOST_ROUNDS], cost[WAYS][MOST_ROUNDS], faster[WAYS][MOST_ROUNDS], dearer[WAYS][MOST_ROUNDS];
    char out[4096];
    row = which;
    all = bytes / row.segment * row.segment;
    snprintf(out, sizeof out, "%s.out", path);
    file = open(row.write ? out : path, (row.write ? O_RDWR : O_RDONLY) | (row.direct ? O_DIRECT : 0));
    CHECK(file >= 0);
    for (int round = -1; round < rounds; round++) {
        for (int i = 0; i < WAYS; i++) {
            double r, c;
            variant = round & 1 ? WAYS - 1 - i : i;
            if (row.write && !row.direct) sync();
            run(&r, &c);
            if (round >= 0) rate[variant][round] = r, cost[variant][round] = c;
        }
        for (int w = 0; round >= 0 && w < WAYS; w++) faster[w][round] = rate[w][round] / rate[CALL][round], dearer[w][round] = cost[w][round] / cost[CALL][round];
    }
    close(file);
    printf("%s %s, %zu KiB, %s pages, %d threads\n", row.direct ? "O_DIRECT" : "cached", row.write ? "write" : "read", row.segment >> 10, row.huge ? "huge" : "small", row.threads);
    for (int w = 0; w < WAYS; w++) {
        double r = median(rate[w], rounds), c = median(cost[w], rounds);
        printf("  %-28s %5.2f (%.2f-%.2f) GB/s, %.3f (%.3f-%.3f) CPU s/GiB; %.2f x as fast, %.2f x the CPU\n", NAMES[w], r,
                rate[w][0], rate[w][rounds - 1], c, cost[w][0], cost[w][rounds - 1], median(faster[w], rounds), median(dearer[w], rounds));
    }
    fflush(stdout);
}

static void make(const char *path, size_t bytes) {
    char *block = malloc(1 << 20);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0 && block);
    memset(block, 42, 1 << 20);
    for (size_t at = 0; at < bytes; at += 1 << 20) CHECK(pwrite(fd, block, 1 << 20, (off_t)at) == 1 << 20);
    fsync(fd);
    close(fd);
    free(block);
}

int main(int argc, char **argv) {
    CHECK(argc >= 3);
    size_t bytes = (size_t)atol(argv[2]) << 20;
    int rounds = argc > 3 ? atoi(argv[3]) : 9;
    char out[4096];
    CHECK(rounds > 0 && rounds <= MOST_ROUNDS);
    snprintf(out, sizeof out, "%s.out", argv[1]);
    make(argv[1], bytes);
    make(out, bytes);
    const char *only = getenv("ONLY"); // "cached" or "direct"
    static char *usual[] = {"64", "1024", "4096", "4096h"};
    char **sizes = argc > 4 ? argv + 4 : usual;
    int count = argc > 4 ? argc - 4 : 4;
    for (int direct = 0; direct < 2; direct++) {
        if (only && direct != (only[0] == 'd')) continue;
        for (int write = 0; write < 2; write++)
            for (int i = 0; i < count; i++)
                for (int threads = 1; threads <= 2; threads++)
                    measure((Row){direct, write, threads, strchr(sizes[i], 'h') != NULL, (size_t)atol(sizes[i]) << 10}, argv[1], bytes, rounds);
    }
    unlink(out);
    return 0;
}

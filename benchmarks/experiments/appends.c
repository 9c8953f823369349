// SPDX-License-Identifier: Apache-2.0
// What an append and its fdatasync take: by system calls of one thread, by io_uring, and by a thread that is awake for the sync.
//   gcc -O2 -pthread -o appends benchmarks/experiments/appends.c && ./appends /tmp/file 2000
// The second argument: appends of 4 KiB. Four rounds, all ways in each; a line for each: microseconds for one.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 4096, ROUNDS = 4, ENTRIES = 8, SYNC_DATA_OF_WRITE = 2 /* RWF_DSYNC */ };
enum way { CALLS, RING_SLEEPS, RING_POLLS, RING_LINKED, AWAKE_THREAD, WRITE_OF_SYNC, WAYS };
static const char *const names[WAYS] = {
    "pwrite and fdatasync", "io_uring, the thread sleeps", "io_uring, the thread polls", "io_uring, both linked, the thread polls",
    "io_uring for the write, an awake thread for fdatasync", "io_uring, one write with RWF_DSYNC, the thread polls",
};

static int ring, file;
static char *block;
static unsigned *tail, *mask, *order, *done_head, *done_tail, *done_mask;
static struct io_uring_sqe *requests;
static struct io_uring_cqe *completions;
static atomic_int wanted, synced; // numbers of syncs; wanted is negative at the end

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static char *map(size_t bytes, off_t at) {
    char *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, at);
    if (mapped == MAP_FAILED) fail("mmap");
    return mapped;
}

static void open_ring(void) {
    struct io_uring_params params = {.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN};
    ring = (int)syscall(SYS_io_uring_setup, ENTRIES, &params);
    if (ring < 0) fail("io_uring_setup");
    char *submission = map(params.sq_off.array + params.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
    char *completion = map(params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
    requests = (void *)map(params.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
    tail = (void *)(submission + params.sq_off.tail);
    mask = (void *)(submission + params.sq_off.ring_mask);
    order = (void *)(submission + params.sq_off.array);
    done_head = (void *)(completion + params.cq_off.head);
    done_tail = (void *)(completion + params.cq_off.tail);
    done_mask = (void *)(completion + params.cq_off.ring_mask);
    completions = (void *)(completion + params.cq_off.cqes);
}

static struct io_uring_sqe *request(int opcode, int flags) {
    struct io_uring_sqe *next = &requests[*tail & *mask];
    memset(next, 0, sizeof *next);
    next->opcode = (unsigned char)opcode;
    next->flags = (unsigned char)flags;
    next->fd = file;
    order[*tail & *mask] = *tail & *mask;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    return next;
}

static void write_block(long offset, int flags, int rw_flags) {
    struct io_uring_sqe *write = request(IORING_OP_WRITE, flags);
    write->addr = (unsigned long)block;
    write->len = BLOCK;
    write->off = (unsigned long)offset;
    write->rw_flags = rw_flags;
}

static void sync_data(void) { request(IORING_OP_FSYNC, 0)->fsync_flags = IORING_FSYNC_DATASYNC; }

static void submit_and_wait(int count, int polls) {
    syscall(SYS_io_uring_enter, ring, count, polls ? 0 : count, IORING_ENTER_GETEVENTS, NULL, 0);
    while (count > 0) {
        unsigned head = *done_head;
        if (head == __atomic_load_n(done_tail, __ATOMIC_ACQUIRE)) {
            syscall(SYS_io_uring_enter, ring, 0, polls ? 0 : count, IORING_ENTER_GETEVENTS, NULL, 0);
            continue;
        }
        if (completions[head & *done_mask].res < 0) exit(1);
        __atomic_store_n(done_head, head + 1, __ATOMIC_RELEASE);
        count--;
    }
}

static void *sync_when_wanted(void *unused) {
    (void)unused;
    for (int seen = 0;;) {
        int number = atomic_load_explicit(&wanted, memory_order_acquire);
        if (number < 0) return NULL;
        if (number == seen) {
            __builtin_ia32_pause();
            continue;
        }
        seen = number;
        if (fdatasync(file)) fail("fdatasync");
        atomic_store_explicit(&synced, number, memory_order_release);
    }
}

static void append(enum way way, int number) {
    long offset = (long)(number - 1) * BLOCK;
    switch (way) {
        case CALLS:
            if (pwrite(file, block, BLOCK, offset) != BLOCK || fdatasync(file)) fail("append");
            return;
        case RING_LINKED:
            write_block(offset, IOSQE_IO_LINK, 0);
            sync_data();
            submit_and_wait(2, 1);
            return;
        case WRITE_OF_SYNC:
            write_block(offset, 0, SYNC_DATA_OF_WRITE);
            submit_and_wait(1, 1);
            return;
        case AWAKE_THREAD:
            write_block(offset, 0, 0);
            submit_and_wait(1, 1);
            atomic_store_explicit(&wanted, number, memory_order_release);
            while (atomic_load_explicit(&synced, memory_order_acquire) != number) __builtin_ia32_pause();
            return;
        default:
            write_block(offset, 0, 0);
            submit_and_wait(1, way == RING_POLLS);
            sync_data();
            submit_and_wait(1, way == RING_POLLS);
    }
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    int appends = atoi(arguments[2]);
    if (posix_memalign((void **)&block, BLOCK, BLOCK)) return 1;
    memset(block, 7, BLOCK);
    open_ring();
    for (int round = 0; round < ROUNDS; round++) {
        for (enum way way = CALLS; way < WAYS; way++) {
            file = open(arguments[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
            if (file < 0) fail("open");
            pthread_t thread;
            atomic_store(&wanted, 0);
            if (way == AWAKE_THREAD && pthread_create(&thread, NULL, sync_when_wanted, NULL)) return 1;
            double begin = now();
            for (int number = 1; number <= appends; number++) append(way, number);
            printf("%s: %.1f\n", names[way], (now() - begin) / appends * 1e6);
            if (way == AWAKE_THREAD) {
                atomic_store(&wanted, -1);
                pthread_join(thread, NULL);
            }
            close(file);
        }
    }
    unlink(arguments[1]);
    return 0;
}

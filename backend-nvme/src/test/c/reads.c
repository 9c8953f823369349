// SPDX-License-Identifier: Apache-2.0
// The peer of CommandRates: a driver in C that reads random blocks of 4 KiB from QEMU's controller, by qtest and shared memory.
//   reads SOCKET RAM DEPTH SECONDS BLOCKS THREADS QEMU [ARGUMENT...]
// Starts QEMU, whose qtest connects to SOCKET and whose memory is the file RAM, and prints
//   COMMANDS NANOS CPU_NANOS REGISTER_WRITES
// One queue pair; a command for each of DEPTH buffers, again as soon as it has completed; both doorbells at most once per turn, as
// shadow doorbells where the controller has them. It never sleeps.
// With two THREADS the backend's way in C: a thread hands commands to the one that has the queue pair, which naps between polls that find
// nothing, and is handed the completions; each wakes the other by an eventfd, once for all that it hands over at a time.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 4096, LBA = 512, ENTRIES = 64, MOST_POSTED = 32, WARM_UP_NANOS = 300000000,
    FIRST_NAP_NANOS = 5000, LONGEST_NAP_NANOS = 200000 };
static const uint64_t MEMORY = 1ull << 30, BAR0 = 0xe0000000;
// Where everything is in QEMU's memory; below 1 MiB is the BIOS.
enum { ADMIN_SQ = 1 << 20, ADMIN_CQ = ADMIN_SQ + 4096, IO_SQ = ADMIN_CQ + 4096, IO_CQ = IO_SQ + 4096, SHADOW = IO_CQ + 4096,
    EVENTS = SHADOW + 4096, PAGE = EVENTS + 4096, DATA = 2 << 20 };

typedef struct {
    uint32_t opcode_cid, nsid, r0, r1, m0, m1;
    uint64_t prp1, prp2;
    uint32_t cdw10, cdw11, cdw12, r2, r3, r4;
} Submission;
typedef struct {
    uint32_t result, r;
    uint16_t head, id, cid;
    _Atomic uint16_t status;
} Completion;
typedef struct {
    int id, entries, tail, head, phase;
    Submission *submissions;
    Completion *completions;
} Pair;

static uint8_t *memory;
static int qtest = -1, posted, shadows;
static uint64_t writes;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int64_t now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}

// The answers of qtest, a line each.
static void answer(char *line, size_t size) {
    static char in[4096];
    static ssize_t at, end;
    size_t length = 0;
    for (;;) {
        if (at == end) {
            at = 0;
            end = read(qtest, in, sizeof in);
            if (end <= 0) {
                fail("qtest");
            }
        }
        char next = in[at++];
        if (next == '\n') {
            break;
        }
        if (length + 1 < size) {
            line[length++] = next;
        }
    }
    line[length] = 0;
    posted--;
    if (strncmp(line, "OK", 2) != 0) {
        fail(line);
    }
}

// Sends a command, whose answer is read later.
static void post(const char *format, uint64_t a, uint64_t b) {
    char line[128];
    int length = snprintf(line, sizeof line, format, a, b);
    if (write(qtest, line, (size_t)length) != length) {
        fail("qtest");
    }
    for (posted++; posted > MOST_POSTED;) {
        answer(line, sizeof line);
    }
}

static void write32(int offset, uint32_t value) {
    atomic_thread_fence(memory_order_release);
    post("writel 0x%lx 0x%lx\n", BAR0 + (uint64_t)offset, value);
}

static uint32_t read32(int offset) {
    char line[128];
    post("readl 0x%lx\n", BAR0 + (uint64_t)offset, 0);
    while (posted > 0) {
        answer(line, sizeof line);
    }
    return (uint32_t)strtoull(line + 5, NULL, 16);
}

static void configure(int offset, uint32_t value) {
    post("outl 0xcf8 0x%lx\n", 1u << 31 | 4u << 11 | (uint32_t)offset, 0); // slot 4
    post("outl 0xcfc 0x%lx\n", value, 0);
}

static void ring(int index, int value) {
    if (index > 1 && shadows) {
        _Atomic uint32_t *shadow = (_Atomic uint32_t *)(memory + SHADOW) + index;
        _Atomic uint32_t *event = (_Atomic uint32_t *)(memory + EVENTS) + index;
        uint32_t old = atomic_load_explicit(shadow, memory_order_relaxed);
        atomic_store_explicit(shadow, (uint32_t)value, memory_order_release);
        atomic_thread_fence(memory_order_seq_cst);
        uint32_t seen = atomic_load(event);
        if ((uint16_t)(value - seen - 1) >= (uint16_t)(value - old)) {
            return;
        }
    }
    writes++;
    write32(0x1000 + 4 * index, (uint32_t)value);
}

static Submission *next(Pair *pair) {
    Submission *entry = &pair->submissions[pair->tail];
    pair->tail = (pair->tail + 1) % pair->entries;
    memset(entry, 0, sizeof *entry);
    return entry;
}

// Returns whether there is a completion; then its identifier, after a check of its status.
static int poll_one(Pair *pair, int *cid) {
    Completion *entry = &pair->completions[pair->head];
    uint16_t status = atomic_load_explicit(&entry->status, memory_order_acquire);
    if ((status & 1) != pair->phase) {
        return 0;
    }
    if (status >> 1) {
        fprintf(stderr, "status %x\n", status >> 1);
        exit(1);
    }
    *cid = entry->cid;
    if (++pair->head == pair->entries) {
        pair->head = 0;
        pair->phase ^= 1;
    }
    return 1;
}

static void admin(Pair *pair, Submission command) {
    int cid;
    *next(pair) = command;
    ring(0, pair->tail);
    while (!poll_one(pair, &cid)) {
    }
    ring(1, pair->head);
}

static Pair set_up(void) {
    Pair pair = {0, ENTRIES, 0, 0, 1, (Submission *)(memory + ADMIN_SQ), (Completion *)(memory + ADMIN_CQ)};
    Pair io = {1, ENTRIES, 0, 0, 1, (Submission *)(memory + IO_SQ), (Completion *)(memory + IO_CQ)};
    configure(0x10, BAR0);
    configure(0x14, 0);
    configure(0x04, 6);
    write32(0x24, (ENTRIES - 1) << 16 | (ENTRIES - 1));
    write32(0x28, ADMIN_SQ);
    write32(0x2c, 0);
    write32(0x30, ADMIN_CQ);
    write32(0x34, 0);
    write32(0x14, 6 << 16 | 4 << 20 | 1);
    while (!(read32(0x1c) & 1)) {
    }
    admin(&pair, (Submission){.opcode_cid = 6, .prp1 = PAGE, .cdw10 = 1}); // Identify Controller
    int has_shadows = memory[PAGE + 257] & 1;
    admin(&pair, (Submission){.opcode_cid = 9, .cdw10 = 7}); // Set Features: one queue of each kind
    if (has_shadows) {
        admin(&pair, (Submission){.opcode_cid = 0x7c, .prp1 = SHADOW, .prp2 = EVENTS});
    }
    admin(&pair, (Submission){.opcode_cid = 5, .prp1 = IO_CQ, .cdw10 = (ENTRIES - 1) << 16 | 1, .cdw11 = 1});
    admin(&pair, (Submission){.opcode_cid = 1, .prp1 = IO_SQ, .cdw10 = (ENTRIES - 1) << 16 | 1, .cdw11 = 1 << 16 | 1});
    shadows = has_shadows;
    return io;
}

static uint64_t random64(void) {
    static uint64_t state = 88172645463325252ull;
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static uint64_t block_of[ENTRIES]; // that a command reads

static void check(int cid) {
    uint64_t found;
    memcpy(&found, memory + DATA + (uint64_t)cid * BLOCK, sizeof found);
    if (found != block_of[cid]) {
        fprintf(stderr, "block %lu holds %lu\n", block_of[cid], found);
        exit(1);
    }
}

static void choose(int cid, uint64_t blocks) {
    block_of[cid] = random64() % blocks;
}

static void submit(Pair *pair, int cid) {
    Submission *entry = next(pair);
    entry->opcode_cid = 2 | (uint32_t)cid << 16;
    entry->nsid = 1;
    entry->prp1 = DATA + (uint64_t)cid * BLOCK;
    entry->cdw10 = (uint32_t)(block_of[cid] * (BLOCK / LBA));
    entry->cdw12 = BLOCK / LBA - 1;
}

// Reads for so long, and returns the number of commands.
static uint64_t reads(Pair *pair, int depth, uint64_t blocks, int64_t nanos) {
    uint64_t count = 0;
    int in_flight = depth, cid;
    int64_t end = now(CLOCK_MONOTONIC) + nanos;
    for (int i = 0; i < depth; i++) {
        choose(i, blocks);
        submit(pair, i);
    }
    ring(2, pair->tail);
    for (int more = 1; in_flight > 0;) {
        int done = 0;
        while (poll_one(pair, &cid)) {
            check(cid);
            done++;
            if (more) {
                choose(cid, blocks);
                submit(pair, cid);
            } else {
                in_flight--;
            }
        }
        if (done) {
            count += (uint64_t)done;
            ring(3, pair->head);
            if (more) {
                ring(2, pair->tail);
                more = now(CLOCK_MONOTONIC) < end;
            }
        }
    }
    return count;
}

// Commands that one thread hands to the other: never more than are in flight.
typedef struct {
    int cids[ENTRIES];
    _Atomic unsigned put, taken;
} Handover;

static Handover requests, completions;
static int to_queue, to_caller; // eventfds
static atomic_bool ending;

static void put(Handover *handover, int cid) {
    unsigned at = atomic_load_explicit(&handover->put, memory_order_relaxed);
    handover->cids[at % ENTRIES] = cid;
    atomic_store_explicit(&handover->put, at + 1, memory_order_release);
}

static bool take(Handover *handover, int *cid) {
    unsigned at = atomic_load_explicit(&handover->taken, memory_order_relaxed);
    if (at == atomic_load_explicit(&handover->put, memory_order_acquire)) {
        return false;
    }
    *cid = handover->cids[at % ENTRIES];
    atomic_store_explicit(&handover->taken, at + 1, memory_order_release);
    return true;
}

static void wake(int eventfd) {
    uint64_t one = 1;
    if (write(eventfd, &one, sizeof one) != sizeof one) {
        fail("eventfd");
    }
}

static void await(int eventfd) {
    uint64_t count;
    if (read(eventfd, &count, sizeof count) != sizeof count) {
        fail("eventfd");
    }
}

// Waits until the queue's thread is woken, or for so long.
static void nap(long nanos) {
    struct pollfd woken = {.fd = to_queue, .events = POLLIN};
    if (ppoll(&woken, 1, &(struct timespec){.tv_nsec = nanos}, NULL) > 0) {
        await(to_queue);
    }
}

// The thread that has the queue pair.
static void *serve(void *argument) {
    Pair *pair = argument;
    int cid, in_flight = 0;
    long nanos = FIRST_NAP_NANOS;
    prctl(PR_SET_TIMERSLACK, 1);
    while (in_flight > 0 || !atomic_load(&ending)) {
        int submitted = 0, done = 0;
        for (; take(&requests, &cid); submitted++) {
            submit(pair, cid);
        }
        if (submitted) {
            ring(2, pair->tail);
            in_flight += submitted;
        }
        for (; poll_one(pair, &cid); done++) {
            put(&completions, cid);
        }
        if (done) {
            ring(3, pair->head);
            wake(to_caller);
            in_flight -= done;
            nanos = FIRST_NAP_NANOS;
        } else if (in_flight) {
            nap(nanos);
            nanos = nanos < LONGEST_NAP_NANOS / 2 ? 2 * nanos : LONGEST_NAP_NANOS;
        } else {
            await(to_queue);
        }
    }
    return NULL;
}

// As reads, by two threads.
static uint64_t handed(Pair *pair, int depth, uint64_t blocks, int64_t nanos) {
    int64_t end = now(CLOCK_MONOTONIC) + nanos;
    uint64_t count = 0;
    int in_flight = depth, cid;
    pthread_t thread;
    atomic_store(&ending, false);
    if (pthread_create(&thread, NULL, serve, pair)) {
        fail("pthread_create");
    }
    for (int i = 0; i < depth; i++) {
        choose(i, blocks);
        put(&requests, i);
    }
    wake(to_queue);
    for (bool more = true; in_flight > 0;) {
        int again = 0;
        await(to_caller);
        for (; take(&completions, &cid); count++) {
            check(cid);
            if (more) {
                choose(cid, blocks);
                put(&requests, cid);
                again++;
            } else {
                in_flight--;
            }
        }
        if (again) {
            wake(to_queue);
            more = now(CLOCK_MONOTONIC) < end;
        }
    }
    atomic_store(&ending, true);
    wake(to_queue);
    pthread_join(thread, NULL);
    return count;
}

static pid_t start(const char *path, char **command) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server < 0 || bind(server, (struct sockaddr *)&name, sizeof name) || listen(server, 1)) {
        fail(path);
    }
    pid_t qemu = fork();
    if (qemu == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM); // which timeout(1) passes on
        execvp(command[0], command);
        fail(command[0]);
    }
    qtest = accept(server, NULL, NULL);
    if (qtest < 0) {
        fail("accept");
    }
    return qemu;
}

int main(int count, char **arguments) {
    if (count < 8) {
        fprintf(stderr, "reads SOCKET RAM DEPTH SECONDS BLOCKS THREADS QEMU [ARGUMENT...]\n");
        return 2;
    }
    int depth = atoi(arguments[3]);
    uint64_t blocks = strtoull(arguments[5], NULL, 10);
    bool hands_over = atoi(arguments[6]) == 2;
    int64_t nanos = (int64_t)(atof(arguments[4]) * 1e9);
    pid_t qemu = start(arguments[1], arguments + 7);
    read32(0); // it answers once it has started
    int ram = open(arguments[2], O_RDWR | O_CLOEXEC);
    memory = ram < 0 ? MAP_FAILED : mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, ram, 0);
    if (memory == MAP_FAILED) {
        fail(arguments[2]);
    }
    Pair pair = set_up();
    to_queue = eventfd(0, EFD_CLOEXEC);
    to_caller = eventfd(0, EFD_CLOEXEC);
    hands_over ? handed(&pair, depth, blocks, WARM_UP_NANOS) : reads(&pair, depth, blocks, WARM_UP_NANOS);
    writes = 0;
    int64_t cpu = now(CLOCK_PROCESS_CPUTIME_ID), begin = now(CLOCK_MONOTONIC);
    uint64_t commands = hands_over ? handed(&pair, depth, blocks, nanos) : reads(&pair, depth, blocks, nanos);
    printf("%lu %ld %ld %lu\n", commands, now(CLOCK_MONOTONIC) - begin, now(CLOCK_PROCESS_CPUTIME_ID) - cpu, writes);
    kill(qemu, SIGTERM);
    waitpid(qemu, NULL, 0);
    return 0;
}

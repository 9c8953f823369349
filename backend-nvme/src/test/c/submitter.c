// SPDX-License-Identifier: Apache-2.0
// The submitter of a QueuePairHandle, in another process: it builds entries in the submission queues, rings their doorbells
// by a store to memory, and polls the completion queues. All addresses are offsets in a file, which all processes map.
//   submitter FILE NAME=VALUE...    see struct plan; pair=SQ,CQ,DOORBELL,ENTRIES for each queue pair
// Compiled by cc, a thread for each queue pair plays the kernel. By nvcc (nvcc -x cu), it is a kernel with a thread for each
// pair, and the file's mapping is registered with CUDA.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PAIRS = 64, ENTRY = 64, COMPLETION = 16, TIMES = 1 << 15 };

struct queue_pair {
    uint64_t submissions, completions, doorbell, entries; // of the pair
    uint64_t errors, last_status, completed;              // what became of it
};

struct plan {
    uint64_t data, times;                 // offsets: the data of all commands; when each was begun, and ended (0: not kept)
    uint64_t write, nsid, first, blocks;  // 1 for Write, 0 for Read; the first block, blocks of each command
    uint64_t bytes, span;                 // of each command; after so many commands blocks and data begin again
    uint64_t count, depth;                // commands of each pair, and how many of them at a time
    uint64_t leave;                       // 1: build one more entry than is rung, poll nothing, and wait to be killed
    uint64_t pairs;
    struct queue_pair pair[MOST_PAIRS];
};

#ifdef __CUDACC__
#include <cuda_runtime.h>
#define DEVICE __device__
#define YIELD() // a kernel has its processor for itself
static DEVICE uint32_t load(volatile uint32_t *from) {
    uint32_t value;
    asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}
static DEVICE void store(volatile uint32_t *to, uint32_t value) {
    asm volatile("st.release.sys.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}
static DEVICE uint64_t nanos(void) {
    uint64_t value;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value));
    return value;
}
#else
#include <sched.h>
#define DEVICE
#define YIELD() sched_yield()
static uint32_t load(volatile uint32_t *from) {
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}
static void store(volatile uint32_t *to, uint32_t value) {
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
}
static uint64_t nanos(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ull + now.tv_nsec;
}
#endif

// NVM Express base specification 1.4, figures 104 and 386: dwords 0 and 1, PRP entry 1 at 24, starting LBA at 40, NLB at 48.
// A command of more than a page has its second PRP entry; longer ones are not built here.
static DEVICE void build(uint8_t *memory, const struct plan *plan, uint64_t entry, uint64_t index, uint64_t command) {
    volatile uint64_t *to = (volatile uint64_t *)(memory + entry);
    uint64_t slot = (index * plan->count + command) % plan->span;
    uint64_t data = plan->data + slot * plan->bytes;
    uint64_t id = command % TIMES;
    to[0] = (plan->write ? 1 : 2) | id << 16 | plan->nsid << 32;
    to[1] = 0;
    to[2] = 0;
    to[3] = data;
    to[4] = plan->bytes > 4096 ? data + 4096 : 0;
    to[5] = plan->first + slot * plan->blocks;
    to[6] = plan->blocks - 1;
    to[7] = 0;
}

static DEVICE void submit(uint8_t *memory, struct plan *plan, uint64_t index) {
    struct queue_pair *pair = &plan->pair[index];
    volatile uint32_t *doorbell = (volatile uint32_t *)(memory + pair->doorbell);
    uint64_t *times = plan->times ? (uint64_t *)(memory + plan->times) + index * 2 * TIMES : NULL; // by identifier
    uint64_t begun = 0, ended = 0, head = 0, polls = 0;
    uint32_t tail = 0, phase = 1 << 16;
    while (ended < plan->count) {
        uint32_t before = tail;
        for (; begun < plan->count && begun - ended < plan->depth; begun++) {
            if (times) {
                times[begun % TIMES] = nanos();
            }
            build(memory, plan, pair->submissions + (uint64_t)tail * ENTRY, index, begun);
            tail = tail + 1 == pair->entries ? 0 : tail + 1;
        }
        if (tail != before) {
            store(doorbell, tail);
        }
        if (plan->leave) {
            build(memory, plan, pair->submissions + (uint64_t)tail * ENTRY, index, begun);
            return;
        }
        uint32_t last = load((volatile uint32_t *)(memory + pair->completions + head * COMPLETION + 12));
        if ((last & 1 << 16) == phase) {
            if (times) {
                times[TIMES + (last & 0xffff)] = nanos();
            }
            if (last >> 17) {
                pair->errors++;
                pair->last_status = last >> 17;
            }
            if (++head == pair->entries) {
                head = 0;
                phase ^= 1 << 16;
            }
            pair->completed = ++ended;
            polls = 0;
        } else if (++polls > 1000) {
            YIELD();
        }
    }
}

static struct plan plan;
static uint8_t *memory;

static void parse(const char *argument) {
    static const struct {
        const char *name;
        uint64_t *value;
    } names[] = {{"data", &plan.data}, {"times", &plan.times}, {"write", &plan.write}, {"nsid", &plan.nsid},
        {"first", &plan.first}, {"blocks", &plan.blocks}, {"bytes", &plan.bytes}, {"span", &plan.span},
        {"count", &plan.count}, {"depth", &plan.depth}, {"leave", &plan.leave}};
    const char *value = strchr(argument, '=');
    if (value && strncmp(argument, "pair", value - argument) == 0 && plan.pairs < MOST_PAIRS) {
        struct queue_pair *pair = &plan.pair[plan.pairs++];
        if (sscanf(value + 1, "%lu,%lu,%lu,%lu", &pair->submissions, &pair->completions, &pair->doorbell, &pair->entries) == 4) {
            return;
        }
    }
    for (size_t i = 0; value && i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i].name) == (size_t)(value - argument) && strncmp(argument, names[i].name, value - argument) == 0) {
            *names[i].value = strtoull(value + 1, NULL, 0);
            return;
        }
    }
    fprintf(stderr, "submitter: unknown argument %s\n", argument);
    exit(2);
}

#ifdef __CUDACC__
#define CUDA(call) \
    do { \
        cudaError_t error = (call); \
        if (error != cudaSuccess) { \
            fprintf(stderr, "%s -> %s\n", #call, cudaGetErrorString(error)); \
            exit(1); \
        } \
    } while (0)

__global__ void submit_all(uint8_t *memory, struct plan *plan) {
    submit(memory, plan, blockIdx.x);
}

// Answers: the host's clock when it has seen each question.
__global__ void ask(volatile uint32_t *question, volatile uint32_t *answer, uint64_t *before, uint64_t *after, int rounds) {
    for (int i = 1; i <= rounds; i++) {
        before[i - 1] = nanos();
        store(question, i);
        while (load(answer) != (uint32_t)i) {
        }
        after[i - 1] = nanos();
    }
}

static uint64_t host_nanos(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ull + now.tv_nsec;
}

// Prints what to add to the GPU's clock to have the host's, and by how much that may be wrong: half of the shortest round trip.
static void calibrate(void) {
    enum { ROUNDS = 2000 };
    uint8_t *words;
    uint64_t *before, *after, seen[ROUNDS], best = UINT64_MAX;
    int64_t offset = 0;
    CUDA(cudaHostAlloc((void **)&words, 8192, cudaHostAllocMapped));
    CUDA(cudaHostAlloc((void **)&before, ROUNDS * 16, cudaHostAllocMapped));
    after = before + ROUNDS;
    memset(words, 0, 8192);
    uint32_t *question = (uint32_t *)words, *answer = (uint32_t *)(words + 4096);
    ask<<<1, 1>>>(question, answer, before, after, ROUNDS);
    CUDA(cudaGetLastError());
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        while (__atomic_load_n(question, __ATOMIC_ACQUIRE) != i) {
        }
        seen[i - 1] = host_nanos();
        __atomic_store_n(answer, i, __ATOMIC_RELEASE);
    }
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < ROUNDS; i++) {
        if (after[i] - before[i] < best) {
            best = after[i] - before[i];
            offset = (int64_t)seen[i] - (int64_t)(before[i] + best / 2);
        }
    }
    uint64_t step = UINT64_MAX; // the smallest step of the clock that was seen
    for (int i = 1; i < 2 * ROUNDS; i++) {
        uint64_t one = i < ROUNDS ? before[i] - before[i - 1] : after[i - ROUNDS] - before[i - ROUNDS];
        step = one > 0 && one < step ? one : step;
    }
    printf("clock %ld error %lu step %lu\n", (long)offset, (unsigned long)best / 2, (unsigned long)step);
    fflush(stdout);
}

static void run(size_t bytes) {
    uint8_t *device;
    struct plan *shared;
    CUDA(cudaHostRegister(memory, bytes, cudaHostRegisterMapped));
    CUDA(cudaHostGetDevicePointer((void **)&device, memory, 0));
    CUDA(cudaHostAlloc((void **)&shared, sizeof plan, cudaHostAllocMapped));
    *shared = plan;
    calibrate();
    submit_all<<<plan.pairs, 1>>>(device, shared);
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
    plan = *shared;
    calibrate();
    CUDA(cudaHostUnregister(memory));
}
#else
static void *thread(void *pair) {
    submit(memory, &plan, (struct queue_pair *)pair - plan.pair);
    return NULL;
}

static void run(size_t bytes) {
    pthread_t threads[MOST_PAIRS];
    (void)bytes;
    for (uint64_t i = 0; i < plan.pairs; i++) {
        pthread_create(&threads[i], NULL, thread, &plan.pair[i]);
    }
    for (uint64_t i = 0; i < plan.pairs; i++) {
        pthread_join(threads[i], NULL);
    }
}
#endif

int main(int count, char **arguments) {
    struct stat status;
    int file = count < 2 ? -1 : open(arguments[1], O_RDWR);
    if (file < 0 || fstat(file, &status) < 0) {
        perror("submitter FILE");
        return 1;
    }
    memory = (uint8_t *)mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    plan.nsid = plan.blocks = plan.depth = plan.span = 1;
    for (int i = 2; i < count; i++) {
        parse(arguments[i]);
    }
    run(status.st_size);
    uint64_t completed = 0, errors = 0, last = 0;
    for (uint64_t i = 0; i < plan.pairs; i++) {
        completed += plan.pair[i].completed;
        errors += plan.pair[i].errors;
        last = plan.pair[i].last_status ? plan.pair[i].last_status : last;
    }
    printf("completed %lu errors %lu status %lu\n", (unsigned long)completed, (unsigned long)errors, (unsigned long)last);
    fflush(stdout);
    if (plan.leave) {
        pause();
    }
    return 0;
}

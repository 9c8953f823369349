// SPDX-License-Identifier: Apache-2.0
// The C peers of the cufile benchmarks. Reads orders from its input, a line each, and answers each with a line:
//   run WAY hot=FILE bytes=N chunk=N threads=N ... -> ok OPERATIONS NANOS CPU_NANOS MEDIAN_NANOS P50 P99 P99.9
//   check same | gather | disk                       -> ok DIFFERENCES, of what the last run moved
// or with "error TEXT", after which it ends. Called as `peers first own|cufile FILE [BYTES]` it reads 4 KiB to the GPU, or so
// many bytes by a ring of staging buffers, and says so.
#include "peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_BYTES = 4096, SAMPLES = 512, RING_BYTES = 2 << 20, RING_THREADS = 12 };
static const uint64_t POISON = 1ull << 60; // a word that the test file does not contain

static const struct {
    const char *name;
    Outcome (*run)(const Order *);
} variants[] = {{"link", host_to_device}, {"peer", device_to_device}, {"loop", pinned_loop}, {"disk", raw_disk}, {"calls", cufile_calls},
        {"batch", cufile_batch}, {"streams", cufile_streams}, {"gather-calls", gather_calls},
        {"gather-batch", gather_batch}, {"poll", bare_poll}, {"gated-poll", gated_poll}, {"small-reads", small_reads}};

static size_t allocated;
static CUdeviceptr memories[MOST_DEVICES];

static void say_error(const char *text) {
    printf("error %s\n", text);
    fflush(stdout);
    _exit(1); // threads may still be running
}

static void set(Order *order, const char *name, char *value) {
    size_t number = strtoull(value, NULL, 10);
    if (strcmp(name, "hot") == 0) {
        order->hot = strdup(value);
    } else if (strcmp(name, "written") == 0) {
        order->written = strdup(value);
    } else if (strcmp(name, "bytes") == 0) {
        order->bytes = number;
    } else if (strcmp(name, "chunk") == 0) {
        order->chunk = number;
    } else if (strcmp(name, "threads") == 0) {
        order->threads = (int)number;
    } else if (strcmp(name, "buffers") == 0) {
        order->stagingBuffers = (int)number;
    } else if (strcmp(name, "direct") == 0) {
        order->direct = (int)number;
    } else if (strcmp(name, "write") == 0) {
        order->write = (int)number;
    } else if (strcmp(name, "blocks") == 0) {
        order->blocks = number;
    } else if (strcmp(name, "timed") == 0) {
        order->timed = (int)number;
    } else if (strcmp(name, "devices") == 0) {
        order->devices = (int)number;
    } else if (strcmp(name, "base") == 0) {
        order->base = number;
    } else {
        fail("no such word of an order: %s", name);
    }
}

// Room for the time of each operation of an order whose parts are timed.
static size_t clock_of(Order *order) {
    size_t parts = !order->timed || !order->chunk ? 0
            : order->blocks                       ? order->blocks
                                                  : (order->bytes + order->chunk - 1) / order->chunk;
    order->times = parts && order->devices == 1 ? calloc(parts, sizeof *order->times) : NULL;
    return order->times ? parts : 0;
}

// Sorts the times, and frees them. Percentiles are 0 where no part was timed.
static void percentiles(Order *order, size_t parts, int64_t into[3]) {
    static const size_t per_mille[] = {500, 990, 999};
    if (parts) {
        qsort(order->times, parts, sizeof *order->times, by_nanos);
    }
    for (int i = 0; i < 3; i++) {
        into[i] = parts ? order->times[(parts * per_mille[i] + 999) / 1000 - 1] : 0;
    }
    free(order->times);
    order->times = NULL;
}

// GPU memory is taken once, for the largest order: the first.
static void provide(Order *order, size_t bytes) {
    if (!allocated) {
        allocated = bytes;
    }
    if (bytes > allocated) {
        fail("%zu bytes are more than the %zu of the first order", bytes, allocated);
    }
    if (order->devices < 1 || order->devices > MOST_DEVICES) {
        fail("%d GPUs", order->devices);
    }
    for (int device = 0; device < order->devices; device++) {
        gpu_enter_device(device);
        if (!memories[device]) {
            CUDA(cuMemAlloc_v2(&memories[device], allocated));
        }
    }
    gpu_enter();
    order->memory = memories[0];
    order->memories = memories;
}

static void fill_all(const Order *order, size_t bytes) {
    for (int device = 0; device < order->devices; device++) {
        gpu_enter_device(device);
        gpu_fill(memories[device], bytes, order->write ? order->base : POISON);
    }
    gpu_enter();
}

static uint64_t differences_of_all(const Order *order) {
    uint64_t bad = 0;
    for (int device = 0; device < order->devices; device++) {
        gpu_enter_device(device);
        bad += gpu_differences(memories[device], order->bytes, 0);
    }
    gpu_enter();
    return bad;
}

static void run(Order *order, char *words) {
    const char *name = strtok_r(NULL, " ", &words);
    *order = (Order){.threads = 1, .stagingBuffers = 1, .devices = 1};
    for (char *each; (each = strtok_r(NULL, " ", &words));) {
        char *value = strchr(each, '=');
        if (!value) {
            fail("what is %s?", each);
        }
        *value++ = 0;
        set(order, each, value);
    }
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        if (strcmp(variants[i].name, name) == 0) {
            size_t moved = order->blocks && order->chunk ? order->blocks * order->chunk : order->bytes;
            provide(order, moved > order->bytes ? moved : order->bytes);
            fill_all(order, moved);
            int64_t times[3];
            size_t parts = clock_of(order);
            Outcome outcome = variants[i].run(order);
            percentiles(order, parts, times);
            printf("ok %zu %lld %lld %.0f %lld %lld %lld\n", outcome.operations, (long long)outcome.nanos,
                    (long long)outcome.cpu_nanos, outcome.median_nanos, (long long)times[0], (long long)times[1],
                    (long long)times[2]);
            return;
        }
    }
    fail("no such way: %s", name);
}

// The first word of blocks all over the written file, read from the disk.
static uint64_t disk_differences(const Order *order) {
    int fd = file_of(order->written, 1, 1);
    char *block;
    uint64_t bad = 0;
    size_t blocks = order->bytes / FIRST_BYTES, step = blocks / SAMPLES + 1;
    if (posix_memalign((void **)&block, FIRST_BYTES, FIRST_BYTES) != 0) {
        fail("no memory");
    }
    for (size_t i = 0; i < blocks; i += step) {
        if (pread(fd, block, FIRST_BYTES, (off_t)(i * FIRST_BYTES)) != FIRST_BYTES) {
            fail("pread of %s: %m", order->written);
        }
        bad += *(uint64_t *)block != word(order->base + i * FIRST_BYTES);
    }
    free(block);
    return bad;
}

static void check(const Order *order, char *words) {
    const char *what = strtok_r(NULL, " ", &words);
    uint64_t bad = strcmp(what, "disk") == 0 ? disk_differences(order)
            : strcmp(what, "gather") == 0
            ? gpu_gather_differences(memories[0], order->blocks, order->chunk, gather_offsets(order))
            : differences_of_all(order);
    printf("ok %llu by %s\n", (unsigned long long)bad, gpu_checked_by());
}

static int first(const char *variant, const char *path, size_t bytes) {
    int64_t start = now_nanos();
    CUdeviceptr target;
    uint64_t back[FIRST_BYTES / 8];
    gpu_open();
    CUDA(cuMemAlloc_v2(&target, bytes));
    int64_t context = now_nanos(), opened = context;
    Order order = {.hot = path, .bytes = bytes, .chunk = FIRST_BYTES, .threads = 1, .stagingBuffers = 1,
            .devices = 1, .memory = target, .memories = &target};
    if (bytes > FIRST_BYTES) {
        order.chunk = RING_BYTES;
        order.threads = RING_THREADS;
        order.stagingBuffers = 2;
    }
    if (strcmp(variant, "cufile") == 0) {
        cufile_load();
        CUFILE(cuFileDriverOpen());
        opened = now_nanos();
        CUfileDescr_t description = {.type = 1, .handle.fd = file_of(path, 0, 0)};
        CUfileHandle_t handle;
        CUFILE(cuFileHandleRegister(&handle, &description));
        ssize_t got = cuFileRead(handle, (void *)(uintptr_t)target, FIRST_BYTES, 0, 0);
        if (got != FIRST_BYTES) {
            fail("cuFileRead -> %zd, %m", got);
        }
    } else {
        pinned_loop(&order);
    }
    int64_t end = now_nanos();
    CUDA(cuMemcpyDtoHAsync_v2(back, target, FIRST_BYTES, NULL));
    CUDA(cuStreamSynchronize(NULL));
    if (back[1] != word(8)) {
        fail("wrong bytes");
    }
    printf("first byte: context %.1f ms, cuFileDriverOpen %.1f ms, read %.1f ms\n", (context - start) / 1e6,
            (opened - context) / 1e6, (end - opened) / 1e6);
    fflush(stdout);
    _exit(0); // the time to unload libraries does not count
}

int main(int count, char **arguments) {
    char *line = NULL;
    size_t room = 0;
    Order order = {0};
    fail_with = say_error;
    if (count >= 4 && strcmp(arguments[1], "first") == 0) {
        return first(arguments[2], arguments[3], count > 4 ? strtoull(arguments[4], NULL, 10) : FIRST_BYTES);
    }
    gpu_open();
    while (getline(&line, &room, stdin) > 0) {
        char *words;
        line[strcspn(line, "\n")] = 0;
        const char *what = strtok_r(line, " ", &words);
        if (what && strcmp(what, "run") == 0) {
            run(&order, words);
        } else if (what && strcmp(what, "check") == 0) {
            check(&order, words);
        } else {
            fail("what is %s?", what ? what : "an empty line");
        }
        fflush(stdout);
    }
    _exit(0); // as above
}

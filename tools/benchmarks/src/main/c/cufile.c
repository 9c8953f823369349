// SPDX-License-Identifier: Apache-2.0
// The paths through libcufile.
#include "peers.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ENTRIES = 128, MOST_STREAMS = 32, MOST_DEPTH = 16, ALL_FIXED = 0xf };

static CUfileHandle_t handle; // of the run that is on

static void *memory_of(const Order *order) {
    return (void *)(uintptr_t)order->memory;
}

static void calls(Worker *worker) {
    const Order *order = worker->order;
    size_t at, bytes;
    gang_begin(worker);
    while ((bytes = next_part(worker, &at)) != 0) {
        for (size_t done = 0; done < bytes;) {
            off_t from = (off_t)(at + done);
            ssize_t moved = order->write ? cuFileWrite(handle, memory_of(order), bytes - done, from, from)
                                         : cuFileRead(handle, memory_of(order), bytes - done, from, from);
            if (moved <= 0) {
                fail("cuFile%s of %zu bytes at %ld -> %zd, %m", order->write ? "Write" : "Read", bytes, (long)from, moved);
            }
            done += (size_t)moved;
        }
    }
    gang_end(worker);
}

Outcome cufile_calls(const Order *order) {
    handle = cufile_of(order);
    return gang_run(order, calls, order->bytes);
}

static void drain(CUfileBatchHandle_t batch, unsigned entries, size_t each) {
    CUfileIOEvents_t events[MOST_ENTRIES];
    for (unsigned ended = 0; ended < entries;) {
        unsigned count = entries - ended;
        CUFILE(cuFileBatchIOGetStatus(batch, 1, &count, events, NULL));
        for (unsigned i = 0; i < count; i++) {
            if (events[i].status != CUFILE_COMPLETE || events[i].ret != each) {
                fail("an entry of a batch: status %#x, %zd of %zu bytes", (unsigned)events[i].status,
                        (ssize_t)events[i].ret, each);
            }
        }
        ended += count;
    }
}

// Moves blocks by whole batches: number i from offset(i) of the file to i times the block's size.
static Outcome batches(const Order *order, size_t blocks, const int64_t *offsets) {
    static CUfileIOParams_t entries[MOST_ENTRIES];
    unsigned most = (unsigned)order->threads;
    CUfileBatchHandle_t batch;
    handle = cufile_of(order);
    if (most < 1 || most > MOST_ENTRIES) {
        fail("%u entries", most);
    }
    CUFILE(cuFileBatchIOSetUp(&batch, most));
    int64_t cpu = cpu_nanos(), start = now_nanos();
    for (size_t next = 0; next < blocks;) {
        unsigned count = 0;
        for (; count < most && next < blocks; count++, next++) {
            entries[count] = (CUfileIOParams_t){
                    .mode = 1,
                    .devPtr_base = memory_of(order),
                    .file_offset = offsets ? offsets[next] : (int64_t)(next * order->chunk),
                    .devPtr_offset = (int64_t)(next * order->chunk),
                    .size = order->chunk,
                    .fh = handle,
                    .cookie = &entries[count]};
        }
        CUFILE(cuFileBatchIOSubmit(batch, count, entries, 0));
        drain(batch, count, order->chunk);
    }
    Outcome outcome = {offsets ? blocks : blocks * order->chunk, now_nanos() - start, cpu_nanos() - cpu, 0};
    cuFileBatchIODestroy(batch);
    return outcome;
}

Outcome cufile_batch(const Order *order) {
    return batches(order, order->bytes / order->chunk, NULL);
}

Outcome gather_batch(const Order *order) {
    return batches(order, order->blocks, gather_offsets(order));
}

typedef struct {
    size_t bytes;
    off_t at, into;
    ssize_t done;
} Cells; // read and written by the stream, so they live until it has completed

static CUstream streams[MOST_STREAMS];
static CUevent ends[MOST_STREAMS][MOST_DEPTH]; // of the operations of a stream

static void open_streams(const Order *order) {
    if (order->threads < 1 || order->threads > MOST_STREAMS || order->stagingBuffers < 0 || order->stagingBuffers > MOST_DEPTH) {
        fail("%d streams, %d deep", order->threads, order->stagingBuffers);
    }
    for (int i = 0; i < order->threads; i++) {
        CUDA(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        CUFILE(cuFileStreamRegister(streams[i], ALL_FIXED));
        for (int depth = 0; depth < order->stagingBuffers; depth++) {
            CUDA(cuEventCreate(&ends[i][depth], CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING));
        }
    }
}

static void close_streams(const Order *order) {
    for (int i = 0; i < order->threads; i++) {
        for (int depth = 0; depth < order->stagingBuffers; depth++) {
            CUDA(cuEventDestroy_v2(ends[i][depth]));
        }
        CUFILE(cuFileStreamDeregister(streams[i]));
        CUDA(cuStreamDestroy_v2(streams[i]));
    }
}

// A stream has as many operations at once as the order has staging buffers; with none, all of its share from the start.
Outcome cufile_streams(const Order *order) {
    size_t count = order->bytes / order->chunk, depth = (size_t)order->stagingBuffers;
    Cells *cells = calloc(count, sizeof *cells);
    handle = cufile_of(order);
    open_streams(order);
    int64_t cpu = cpu_nanos(), start = now_nanos();
    for (size_t i = 0; i < count; i++) {
        size_t line = i % (size_t)order->threads, turn = i / (size_t)order->threads;
        if (depth && turn >= depth) {
            CUDA(cuEventSynchronize(ends[line][turn % depth]));
        }
        // The pointer gives the position. With the offset, several streams read wrong bytes on an H200:
        // experiments/streams.c.
        void *where = (char *)memory_of(order) + i * order->chunk;
        cells[i] = (Cells){order->chunk, (off_t)(i * order->chunk), 0, 0};
        CUFILE(cuFileReadAsync(handle, where, &cells[i].bytes, &cells[i].at, &cells[i].into, &cells[i].done,
                streams[line]));
        if (depth) {
            CUDA(cuEventRecord(ends[line][turn % depth], streams[line]));
        }
    }
    for (int i = 0; i < order->threads; i++) {
        CUDA(cuStreamSynchronize(streams[i]));
    }
    Outcome outcome = {count * order->chunk, now_nanos() - start, cpu_nanos() - cpu, 0};
    for (size_t i = 0; i < count; i++) {
        if (cells[i].done != (ssize_t)order->chunk) {
            fail("cuFileReadAsync of %zu bytes -> %zd", order->chunk, cells[i].done);
        }
    }
    close_streams(order);
    free(cells);
    return outcome;
}

static atomic_size_t next_block;

static void gather(Worker *worker) {
    const Order *order = worker->order;
    const int64_t *offsets = gather_offsets(order);
    size_t block;
    gang_begin(worker);
    while ((block = atomic_fetch_add(&next_block, 1)) < order->blocks) {
        part_begins(worker, block);
        ssize_t got = cuFileRead(handle, memory_of(order), order->chunk, offsets[block], (off_t)(block * order->chunk));
        part_ended(worker);
        if (got != (ssize_t)order->chunk) {
            fail("cuFileRead of %zu bytes at %ld -> %zd, %m", order->chunk, (long)offsets[block], got);
        }
    }
    gang_end(worker);
}

Outcome gather_calls(const Order *order) {
    handle = cufile_of(order);
    gather_offsets(order);
    atomic_store(&next_block, 0);
    return gang_run(order, gather, order->blocks);
}

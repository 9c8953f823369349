// SPDX-License-Identifier: Apache-2.0
/* Statistics (reference, 5.6): counted between start and stop, at the level that was set before the start. */
#include <string.h>

#include "cufile.h"

enum { HISTOGRAM = 32, GPUS = 16, LEVELS = 3 };

struct count {
    uint64_t ok, err;
};

/* CUfileStatsLevel1_t: 512 bytes. */
struct level1 {
    struct count reads, writes, handle_register, handle_deregister, buffer_register, buffer_deregister;
    uint64_t read_bytes, write_bytes, read_rate, write_rate, read_latency, write_latency, reads_rate, writes_rate,
            read_micros, write_micros;
    struct count batch_submit, batch_complete, batch_setup, batch_cancel, batch_destroy, batch_enqueued,
            batch_posix_enqueued, batch_processed, batch_posix_processed, batch_nvfs, batch_p2p, batch_aio,
            batch_io_uring, batch_mixed, batch_total;
    uint64_t batch_read_bytes, batch_write_bytes, batch_read_rate, batch_write_rate, batch_submit_latency,
            batch_complete_latency, batch_submit_rate, batch_complete_rate, batch_submit_micros, batch_complete_micros,
            last_batch_read_bytes, last_batch_write_bytes;
};
_Static_assert(sizeof(struct level1) == 512, "CUfileStatsLevel1_t");

/* CUfileStatsLevel2_t: 1024 bytes. */
struct level2 {
    struct level1 basic;
    uint64_t read_kb[HISTOGRAM], write_kb[HISTOGRAM];
};
_Static_assert(sizeof(struct level2) == 1024, "CUfileStatsLevel2_t");

/* One direction of CUfilePerGpuStats_t. */
struct gpu {
    char uuid[16];
    uint64_t read_bytes, read_rate, read_utilization, read_micros, reads, p2p_reads, nvfs_reads, posix_reads,
            unaligned_reads, routed_reads, sparse, inlined, read_errors;
    uint64_t write_bytes, write_rate, write_utilization, write_micros, writes, p2p_writes, nvfs_writes, posix_writes,
            unaligned_writes, routed_writes, write_errors;
    uint64_t maps, maps_ok, maps_err, maps_freed, registered_bytes;
};
_Static_assert(sizeof(struct gpu) == 248, "CUfilePerGpuStats_t");

/* CUfileStatsLevel3_t: 5000 bytes. */
struct level3 {
    struct level2 detailed;
    uint32_t gpus;
    struct gpu gpu[GPUS];
};
_Static_assert(sizeof(struct level3) == 5000, "CUfileStatsLevel3_t");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct level3 stats;
static int level, running;

static void add(struct count *count, int failed) {
    if (failed) count->err++;
    else count->ok++;
}

static int bin(uint64_t bytes) {
    int at = 0;
    for (uint64_t kb = bytes / 1024; kb > 1 && at < HISTOGRAM - 1; kb /= 2) at++;
    return at;
}

static void count_read(const struct traffic *t, int p2p) {
    struct level1 *basic = &stats.detailed.basic;
    struct gpu *gpu = t->device >= 0 ? &stats.gpu[t->device] : NULL;
    add(&basic->reads, t->result < 0);
    basic->read_micros += (uint64_t)t->micros;
    if (t->result < 0) {
        if (gpu) gpu->read_errors++;
        return;
    }
    basic->read_bytes += (uint64_t)t->result;
    if (t->batch) basic->batch_read_bytes += (uint64_t)t->result;
    stats.detailed.read_kb[bin((uint64_t)t->result)]++;
    if (!gpu) return;
    gpu->reads++;
    gpu->read_bytes += (uint64_t)t->result;
    gpu->read_micros += (uint64_t)t->micros;
    gpu->unaligned_reads += (uint64_t)t->unaligned;
    if (!t->direct) gpu->posix_reads++;
    else if (p2p) gpu->p2p_reads++;
    else gpu->nvfs_reads++;
}

static void count_write(const struct traffic *t, int p2p) {
    struct level1 *basic = &stats.detailed.basic;
    struct gpu *gpu = t->device >= 0 ? &stats.gpu[t->device] : NULL;
    add(&basic->writes, t->result < 0);
    basic->write_micros += (uint64_t)t->micros;
    if (t->result < 0) {
        if (gpu) gpu->write_errors++;
        return;
    }
    basic->write_bytes += (uint64_t)t->result;
    if (t->batch) basic->batch_write_bytes += (uint64_t)t->result;
    stats.detailed.write_kb[bin((uint64_t)t->result)]++;
    if (!gpu) return;
    gpu->writes++;
    gpu->write_bytes += (uint64_t)t->result;
    gpu->write_micros += (uint64_t)t->micros;
    gpu->unaligned_writes += (uint64_t)t->unaligned;
    if (!t->direct) gpu->posix_writes++;
    else if (p2p) gpu->p2p_writes++;
    else gpu->nvfs_writes++;
}

void count_traffic(const struct traffic *traffic) {
    int p2p = property("p2p", 0) != 0;
    pthread_mutex_lock(&lock);
    if (running && traffic->opcode == READ) count_read(traffic, p2p);
    if (running && traffic->opcode == WRITE) count_write(traffic, p2p);
    pthread_mutex_unlock(&lock);
}

void count_call(enum counter counter, int failed) {
    struct level1 *basic = &stats.detailed.basic;
    struct count *const counters[COUNTERS] = {
        [HANDLE_REGISTER] = &basic->handle_register, [HANDLE_DEREGISTER] = &basic->handle_deregister,
        [BUFFER_REGISTER] = &basic->buffer_register, [BUFFER_DEREGISTER] = &basic->buffer_deregister,
        [BATCH_SUBMIT] = &basic->batch_submit,       [BATCH_COMPLETE] = &basic->batch_complete,
        [BATCH_SETUP] = &basic->batch_setup,         [BATCH_CANCEL] = &basic->batch_cancel,
        [BATCH_DESTROY] = &basic->batch_destroy,
    };
    pthread_mutex_lock(&lock);
    if (running) add(counters[counter], failed);
    pthread_mutex_unlock(&lock);
}

void count_mapping(int device, size_t bytes, int more, int failed) {
    pthread_mutex_lock(&lock);
    struct gpu *gpu = &stats.gpu[device];
    if (running && more > 0) {
        gpu->maps++;
        if (failed) gpu->maps_err++;
        else gpu->maps_ok++;
        if (!failed) gpu->registered_bytes += bytes;
    } else if (running) {
        gpu->maps_freed++;
        gpu->registered_bytes -= gpu->registered_bytes < bytes ? gpu->registered_bytes : bytes;
    }
    pthread_mutex_unlock(&lock);
}

void stats_reset(void) {
    pthread_mutex_lock(&lock);
    memset(&stats, 0, sizeof stats);
    level = running = 0;
    pthread_mutex_unlock(&lock);
}

EXPORT CUfileError_t cuFileSetStatsLevel(int wanted) {
    CALLED(AT_ONCE);
    REQUIRE(wanted >= 0 && wanted <= LEVELS, INVALID);
    pthread_mutex_lock(&lock);
    level = wanted;
    if (!level) running = 0;
    pthread_mutex_unlock(&lock);
    return RESULT(OK);
}

EXPORT CUfileError_t cuFileGetStatsLevel(int *told) {
    CALLED(AT_ONCE);
    REQUIRE(told, INVALID);
    pthread_mutex_lock(&lock);
    *told = level;
    pthread_mutex_unlock(&lock);
    return RESULT(OK);
}

static int driver_open(void) {
    LOCK();
    int open = driver_open_count();
    UNLOCK();
    return open;
}

EXPORT CUfileError_t cuFileStatsStart(void) {
    CALLED(AT_ONCE);
    REQUIRE(driver_open(), DRIVER_NOT_INITIALIZED);
    pthread_mutex_lock(&lock);
    running = level > 0;
    int started = running;
    pthread_mutex_unlock(&lock);
    return RESULT(started ? OK : INVALID);
}

EXPORT CUfileError_t cuFileStatsStop(void) {
    CALLED(AT_ONCE);
    REQUIRE(driver_open(), DRIVER_NOT_INITIALIZED);
    pthread_mutex_lock(&lock);
    running = 0;
    pthread_mutex_unlock(&lock);
    return RESULT(OK);
}

EXPORT CUfileError_t cuFileStatsReset(void) {
    CALLED(AT_ONCE);
    REQUIRE(driver_open(), DRIVER_NOT_INITIALIZED);
    pthread_mutex_lock(&lock);
    memset(&stats, 0, sizeof stats);
    pthread_mutex_unlock(&lock);
    return RESULT(OK);
}

static CUfileError_t tell(void *told, const void *from, size_t size, int of_level) {
    REQUIRE(driver_open(), DRIVER_NOT_INITIALIZED);
    REQUIRE(told, INVALID);
    pthread_mutex_lock(&lock);
    int enabled = level >= of_level;
    if (enabled) {
        struct level1 *basic = &stats.detailed.basic;
        uint64_t reads = basic->reads.ok + basic->reads.err, writes = basic->writes.ok + basic->writes.err;
        basic->read_latency = reads ? basic->read_micros / reads : 0;
        basic->write_latency = writes ? basic->write_micros / writes : 0;
        stats.gpus = (uint32_t)fake_cuda_devices();
        for (uint32_t i = 0; i < stats.gpus; i++) fake_cuda_uuid((int)i, stats.gpu[i].uuid);
        memcpy(told, from, size);
    }
    pthread_mutex_unlock(&lock);
    return RESULT(enabled ? OK : INVALID);
}

EXPORT CUfileError_t cuFileGetStatsL1(struct level1 *told) {
    CALLED(AT_ONCE);
    return tell(told, &stats.detailed.basic, sizeof *told, 1);
}

EXPORT CUfileError_t cuFileGetStatsL2(struct level2 *told) {
    CALLED(AT_ONCE);
    return tell(told, &stats.detailed, sizeof *told, 2);
}

EXPORT CUfileError_t cuFileGetStatsL3(struct level3 *told) {
    CALLED(AT_ONCE);
    return tell(told, &stats, sizeof *told, 3);
}

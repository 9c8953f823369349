// SPDX-License-Identifier: Apache-2.0
/* The driver's life, and what it tells of itself. */
#include <string.h>

#include "cufile.h"

pthread_mutex_t cufile_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cufile_progress = PTHREAD_COND_INITIALIZER;

static int open_count;
static int was_closed;

/* CUfileDrvProps_t: 56 bytes. */
struct properties {
    unsigned nvfs_major, nvfs_minor;
    size_t poll_threshold_kb, max_direct_io_kb;
    unsigned status, control;
    unsigned features, max_device_cache_kb, per_buffer_cache_kb, max_pinned_kb, max_batch_io_size, batch_timeout_ms;
};
_Static_assert(sizeof(struct properties) == 56, "CUfileDrvProps_t");

enum { NVME_BIT = 4, NVMEOF_BIT = 5, SCSI_BIT = 6, P2P_BIT = 11, STREAMS_BIT = 2 };

int driver_open_count(void) {
    return open_count;
}

static CUfileError_t open_driver(void) {
    int cuda = fake_cuda_init();
    if (cuda) return (CUfileError_t){CUDA_DRIVER_ERROR, cuda};
    /* Not documented: libcufile 1.15.1 then writes into freed memory when a thread that has called it ends. */
    if (was_closed) complain("cuFileDriverOpen: the driver was closed before in this process");
    parameters_take();
    if (!direct_mode() && !compat_allowed()) return RESULT(NVFS_DRIVER_ERROR);
    open_count = 1;
    live("driver", 1);
    return RESULT(OK);
}

/* The guide, 3.1: before any other call. The first call opens the driver unless it is open. */
int driver_needed(const char *function) {
    if (open_count) return OK;
    complain("%s before cuFileDriverOpen", function);
    return open_driver().err;
}

/* The guide, 3.1: once per process. The reference, 5.1.1: success if it is open already. */
EXPORT CUfileError_t cuFileDriverOpen(void) {
    CALLED(AT_ONCE);
    LOCK();
    CUfileError_t result = RESULT(OK);
    if (open_count) {
        complain("cuFileDriverOpen: the driver is open");
        open_count++;
    } else {
        result = open_driver();
    }
    UNLOCK();
    return result;
}

static void end_all(void) {
    long streams = async_end(), batches = batches_end(), buffers = buffers_end(), files = files_end();
    /* The guide, 3.8; the reference, 5.1.2: all this is ended implicitly, and what is in flight gets an error. */
    if (streams + batches + buffers + files)
        complain("cuFileDriverClose: %ld handles, %ld buffers, %ld batches and %ld streams are left", files, buffers,
                 batches, streams);
    open_count = 0;
    was_closed = 1;
    live("driver", -1);
    stats_reset();
}

EXPORT CUfileError_t cuFileDriverClose_v2(void) {
    CALLED(AT_ONCE);
    LOCK();
    int open = open_count;
    if (open == 1) end_all();
    else if (open) open_count--;
    UNLOCK();
    return RESULT(open ? OK : DRIVER_NOT_INITIALIZED);
}

EXPORT CUfileError_t cuFileDriverClose(void) {
    return cuFileDriverClose_v2();
}

EXPORT long cuFileUseCount(void) {
    struct answer answer;
    if (called(__func__, &answer)) return answer.code;
    LOCK();
    long count = open_count;
    UNLOCK();
    return count;
}

EXPORT CUfileError_t cuFileGetVersion(int *version) {
    CALLED(AT_ONCE);
    REQUIRE(version, INVALID);
    *version = (int)property("version", 1150);
    return RESULT(OK);
}

EXPORT CUfileError_t cuFileDriverGetProperties(struct properties *told) {
    CALLED(AT_ONCE);
    REQUIRE(told, INVALID);
    LOCK();
    int open = open_count;
    memset(told, 0, sizeof *told);
    if (direct_mode()) {
        told->nvfs_major = 2;
        told->nvfs_minor = 25;
        told->status = 1u << NVME_BIT;
    }
    if (property("p2p", 0)) told->status |= 1u << P2P_BIT;
    told->status = (unsigned)property("dstatus", (long)told->status);
    told->poll_threshold_kb = size_parameter(POLL_THRESHOLD_KB);
    told->max_direct_io_kb = size_parameter(MAX_DIRECT_IO_KB);
    told->control = (unsigned)bool_parameter(USE_POLL_MODE) | (unsigned)compat_allowed() << 1;
    told->features = 0xf;
    if (!property("streams", 1)) told->features &= ~(1u << STREAMS_BIT);
    told->max_device_cache_kb = (unsigned)size_parameter(MAX_DEVICE_CACHE_KB);
    told->per_buffer_cache_kb = (unsigned)size_parameter(PER_BUFFER_CACHE_KB);
    told->max_pinned_kb = (unsigned)size_parameter(MAX_PINNED_KB);
    told->max_batch_io_size = (unsigned)property("max_batch_io_size", (long)size_parameter(IO_BATCH_SIZE));
    told->batch_timeout_ms = (unsigned)size_parameter(BATCH_TIMEOUT_MS);
    UNLOCK();
    return RESULT(open ? OK : DRIVER_NOT_INITIALIZED);
}

/*
 * The setters of a driver that is open: kilobytes, in multiples of 4. Without nvidia-fs the real library (1.15.1 on an H200:
 * docs/vendors/cufile.md) answers success and changes nothing.
 */
static CUfileError_t set_size(enum size_parameter parameter, size_t kb) {
    LOCK();
    int error = !open_count ? DRIVER_NOT_INITIALIZED : kb % 4 || !kb ? UNSUPPORTED_LIMIT : OK;
    if (parameter == MAX_DIRECT_IO_KB && (kb % 64 || kb < 1024 || kb > 16384)) /* the guide, 2.3 */
        error = open_count ? UNSUPPORTED_LIMIT : error;
    if (!error && direct_mode()) set_size_parameter(parameter, kb);
    UNLOCK();
    return RESULT(error);
}

EXPORT CUfileError_t cuFileDriverSetPollMode(bool poll, size_t kb) {
    CALLED(AT_ONCE);
    CUfileError_t result = set_size(POLL_THRESHOLD_KB, kb);
    LOCK();
    if (!result.err && direct_mode()) set_bool_parameter(USE_POLL_MODE, poll);
    UNLOCK();
    return result;
}

EXPORT CUfileError_t cuFileDriverSetMaxDirectIOSize(size_t kb) {
    CALLED(AT_ONCE);
    return set_size(MAX_DIRECT_IO_KB, kb);
}

EXPORT CUfileError_t cuFileDriverSetMaxCacheSize(size_t kb) {
    CALLED(AT_ONCE);
    return set_size(MAX_DEVICE_CACHE_KB, kb);
}

EXPORT CUfileError_t cuFileDriverSetMaxPinnedMemSize(size_t kb) {
    CALLED(AT_ONCE);
    return set_size(MAX_PINNED_KB, kb);
}

EXPORT CUfileError_t cuFileGetBARSizeInKB(int gpu, size_t *kb) {
    CALLED(AT_ONCE);
    LOCK();
    int open = open_count;
    UNLOCK();
    REQUIRE(open, DRIVER_NOT_INITIALIZED);
    REQUIRE(kb && gpu >= 0 && gpu < fake_cuda_devices(), INVALID);
    *kb = (size_t)property("bar_kb", 256L << 20);
    return RESULT(OK);
}

void reset_library(void) {
    pool_reset();
    LOCK();
    async_end();
    batches_end();
    buffers_end();
    files_end();
    open_count = was_closed = 0;
    parameters_reset();
    stats_reset();
    UNLOCK();
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Parameters: what a program sets before the driver opens, and what holds from then on (reference, 5.1.9). The defaults
 * are those of the stock cufile.json.
 */
#include <stdio.h>
#include <string.h>

#include "cufile.h"

enum { TEXT = 256, STRINGS = 3 };

struct range {
    size_t fallback, least, most;
};

static const struct range ranges[SIZE_PARAMETERS] = {
    [PROFILE_STATS] = {0, 0, 3},
    [MAX_IO_QUEUE_DEPTH] = {128, 1, 1024},
    [MAX_IO_THREADS] = {4, 0, 128},
    [MIN_IO_THRESHOLD_KB] = {8192, 4, 1 << 20},
    [MAX_REQUEST_PARALLELISM] = {4, 0, 64},
    [MAX_DIRECT_IO_KB] = {16384, 4, 16384},
    [MAX_DEVICE_CACHE_KB] = {131072, 4, 1 << 22},
    [PER_BUFFER_CACHE_KB] = {1024, 4, 16384},
    [MAX_PINNED_KB] = {33554432, 4, 1 << 30},
    [IO_BATCH_SIZE] = {128, 1, 256},
    [POLL_THRESHOLD_KB] = {4, 4, 1 << 20},
    [BATCH_TIMEOUT_MS] = {50, 0, 100000},
};

static const bool defaults[BOOL_PARAMETERS] = {
    [ALLOW_COMPAT_MODE] = true, [PARALLEL_IO] = true, [ALLOW_SYSTEM_MEMORY] = true};

static const char *const texts[STRINGS] = {"ERROR", "", ""};
static const size_t slab_sizes[SLABS] = {4, 1024, 16384}, slab_counts[SLABS] = {128, 64, 64};

/* What is staged, or of an open driver in force. */
static struct {
    int set;
    size_t value;
} sizes[SIZE_PARAMETERS];
static struct {
    int set;
    bool value;
} bools[BOOL_PARAMETERS];
static struct {
    int set;
    char value[TEXT];
} strings[STRINGS];
static int slabs_set;
static size_t set_slab_sizes[SLABS], set_slab_counts[SLABS];
/* Staged values are cleared when the driver opens; these hold while it is open, whatever is staged for the next time. */
static int parameters_in_force;

void parameters_take(void) {
    /* Opened again without anything set in between: what was read the last time is read anew. */
    if (parameters_in_force) parameters_reset();
    parameters_in_force = 1;
    config_take();
}

int size_set(enum size_parameter parameter) {
    return sizes[parameter].set;
}

int bool_set(enum bool_parameter parameter) {
    return bools[parameter].set;
}

void set_slabs(const size_t sizes_kb[SLABS], const size_t counts[SLABS]) {
    if (slabs_set) return;
    memcpy(set_slab_sizes, sizes_kb, sizeof set_slab_sizes);
    memcpy(set_slab_counts, counts, sizeof set_slab_counts);
    slabs_set = 1;
}

void parameters_reset(void) {
    memset(sizes, 0, sizeof sizes);
    memset(bools, 0, sizeof bools);
    memset(strings, 0, sizeof strings);
    slabs_set = 0;
    parameters_in_force = 0;
}

size_t size_parameter(enum size_parameter parameter) {
    return sizes[parameter].set ? sizes[parameter].value : ranges[parameter].fallback;
}

bool bool_parameter(enum bool_parameter parameter) {
    return bools[parameter].set ? bools[parameter].value : defaults[parameter];
}

void set_size_parameter(enum size_parameter parameter, size_t value) {
    sizes[parameter].set = 1;
    sizes[parameter].value = value;
}

void set_bool_parameter(enum bool_parameter parameter, bool value) {
    bools[parameter].set = 1;
    bools[parameter].value = value;
}

void slabs(size_t sizes_kb[SLABS], size_t counts[SLABS]) {
    memcpy(sizes_kb, slabs_set ? set_slab_sizes : slab_sizes, sizeof slab_sizes);
    memcpy(counts, slabs_set ? set_slab_counts : slab_counts, sizeof slab_counts);
}

int direct_mode(void) {
    return property("nvfs", 0) && !bool_parameter(FORCE_COMPAT_MODE);
}

int compat_allowed(void) {
    return property("compat", 1) && (bool_parameter(ALLOW_COMPAT_MODE) || bool_parameter(FORCE_COMPAT_MODE));
}

/* A parameter comes too late once the driver is open. A driver that was closed begins with the defaults again. */
static int settable(const char *function, int valid) {
    if (driver_open_count()) {
        complain("%s: the driver is open", function);
        return ALREADY_OPEN;
    }
    if (parameters_in_force) parameters_reset();
    return valid ? OK : INVALID;
}

EXPORT CUfileError_t cuFileSetParameterSizeT(int parameter, size_t value) {
    CALLED(AT_ONCE);
    LOCK();
    int error = settable(__func__, parameter >= 0 && parameter < SIZE_PARAMETERS && value >= ranges[parameter].least
                                           && value <= ranges[parameter].most);
    if (!error) set_size_parameter((enum size_parameter)parameter, value);
    UNLOCK();
    return RESULT(error);
}

/* The reference, 4.1.1: PROFILE_NVTX is gone, to set or get it fails. */
static int bool_known(int parameter) {
    return parameter >= 0 && parameter < BOOL_PARAMETERS && parameter != PROFILE_NVTX;
}

EXPORT CUfileError_t cuFileSetParameterBool(int parameter, bool value) {
    CALLED(AT_ONCE);
    LOCK();
    int error = settable(__func__, bool_known(parameter));
    if (!error) set_bool_parameter((enum bool_parameter)parameter, value);
    UNLOCK();
    return RESULT(error);
}

EXPORT CUfileError_t cuFileSetParameterString(int parameter, const char *value) {
    CALLED(AT_ONCE);
    LOCK();
    int error = settable(__func__, parameter >= 0 && parameter < STRINGS && value && strlen(value) < TEXT);
    if (!error) {
        strings[parameter].set = 1;
        strcpy(strings[parameter].value, value);
    }
    UNLOCK();
    return RESULT(error);
}

EXPORT CUfileError_t cuFileGetParameterSizeT(int parameter, size_t *value) {
    CALLED(AT_ONCE);
    REQUIRE(parameter >= 0 && parameter < SIZE_PARAMETERS && value, INVALID);
    LOCK();
    *value = size_parameter((enum size_parameter)parameter);
    UNLOCK();
    return RESULT(OK);
}

EXPORT CUfileError_t cuFileGetParameterBool(int parameter, bool *value) {
    CALLED(AT_ONCE);
    REQUIRE(bool_known(parameter) && value, INVALID);
    LOCK();
    *value = bool_parameter((enum bool_parameter)parameter);
    UNLOCK();
    return RESULT(OK);
}

EXPORT CUfileError_t cuFileGetParameterString(int parameter, char *value, int length) {
    CALLED(AT_ONCE);
    REQUIRE(parameter >= 0 && parameter < STRINGS && value && length > 0, INVALID);
    LOCK();
    const char *text = strings[parameter].set ? strings[parameter].value : texts[parameter];
    int fits = (int)strlen(text) < length;
    if (fits) strcpy(value, text);
    UNLOCK();
    return RESULT(fits ? OK : INVALID);
}

EXPORT CUfileError_t cuFileGetParameterMinMaxValue(int parameter, size_t *least, size_t *most) {
    CALLED(AT_ONCE);
    REQUIRE(parameter >= 0 && parameter < SIZE_PARAMETERS && least && most, INVALID);
    *least = ranges[parameter].least;
    *most = ranges[parameter].most;
    return RESULT(OK);
}

EXPORT CUfileError_t cuFileSetParameterPosixPoolSlabArray(const size_t *sizes_kb, const size_t *counts, int length) {
    CALLED(AT_ONCE);
    int valid = sizes_kb && counts && length == SLABS;
    for (int i = 0; valid && i < SLABS; i++)
        valid = counts[i] && sizes_kb[i] && sizes_kb[i] % 4 == 0 && (!i || sizes_kb[i] > sizes_kb[i - 1]);
    LOCK();
    int error = settable(__func__, valid);
    slabs_set = slabs_set && error;
    if (!error) set_slabs(sizes_kb, counts);
    UNLOCK();
    return RESULT(error);
}

EXPORT CUfileError_t cuFileGetParameterPosixPoolSlabArray(size_t *sizes_kb, size_t *counts, int length) {
    CALLED(AT_ONCE);
    REQUIRE(sizes_kb && counts && length == SLABS, INVALID);
    LOCK();
    slabs(sizes_kb, counts);
    UNLOCK();
    return RESULT(OK);
}

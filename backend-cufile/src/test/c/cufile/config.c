// SPDX-License-Identifier: Apache-2.0
/*
 * cufile.json (the guide, 2.3), with // comments, and the environment, which stands above it (the reference, 5.1.9). Only the
 * file that CUFILE_ENV_PATH_JSON names: what lies in this machine's /etc says nothing to a test.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cufile.h"

enum { LARGEST = 1 << 16 };

struct source {
    const char *key, *variable;
};

static const struct source size_sources[SIZE_PARAMETERS] = {
    [PROFILE_STATS] = {"cufile_stats", NULL},
    [MAX_IO_QUEUE_DEPTH] = {"max_io_queue_depth", NULL},
    [MAX_IO_THREADS] = {"max_io_threads", NULL},
    [MIN_IO_THRESHOLD_KB] = {"min_io_threshold_size_kb", NULL},
    [MAX_REQUEST_PARALLELISM] = {"max_request_parallelism", NULL},
    [MAX_DIRECT_IO_KB] = {"max_direct_io_size_kb", NULL},
    [MAX_DEVICE_CACHE_KB] = {"max_device_cache_size_kb", "CUFILE_MAX_DEVICE_CACHE_SIZE"},
    [PER_BUFFER_CACHE_KB] = {"per_buffer_cache_size_kb", "CUFILE_PER_BUFFER_CACHE_SIZE"},
    [MAX_PINNED_KB] = {"max_device_pinned_mem_size_kb", NULL},
    [IO_BATCH_SIZE] = {"io_batchsize", NULL},
    [POLL_THRESHOLD_KB] = {"poll_max_size_kb", NULL},
    [BATCH_TIMEOUT_MS] = {"batch_io_timeout_ms", NULL},
};

static const struct source bool_sources[BOOL_PARAMETERS] = {
    [USE_POLL_MODE] = {"use_poll_mode", NULL},
    [ALLOW_COMPAT_MODE] = {"allow_compat_mode", "CUFILE_ALLOW_COMPAT_MODE"},
    [FORCE_COMPAT_MODE] = {"force_compat_mode", "CUFILE_FORCE_COMPAT_MODE"},
    [PARALLEL_IO] = {"parallel_io", NULL},
    [ALLOW_SYSTEM_MEMORY] = {"allow_system_memory", NULL},
    [USE_PCIP2PDMA] = {"use_pci_p2pdma", "CUFILE_USE_PCIP2PDMA"},
};

/* Blanks out comments; what stands in quotes is no comment. */
static void without_comments(char *text) {
    int quoted = 0;
    for (char *at = text; *at; at++) {
        if (*at == '"') quoted = !quoted;
        if (quoted || at[0] != '/' || at[1] != '/') continue;
        while (*at && *at != '\n') *at++ = ' ';
        if (!*at) return;
    }
}

static char *load(void) {
    const char *name = getenv("CUFILE_ENV_PATH_JSON");
    FILE *file = name ? fopen(name, "re") : NULL;
    if (!file) return NULL;
    char *text = calloc(1, LARGEST);
    if (!text) abort();
    (void)!fread(text, 1, LARGEST - 1, file);
    fclose(file);
    without_comments(text);
    return text;
}

/* Where the value of a key begins, or null. The keys that matter are unique in the file. */
static const char *find(const char *text, const char *key) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\"", key);
    const char *at = text && key ? strstr(text, quoted) : NULL;
    if (!at) return NULL;
    at += strlen(quoted);
    at += strspn(at, " \t\r\n:");
    return at;
}

static const char *value_of(const char *text, const struct source *source) {
    const char *variable = source->variable ? getenv(source->variable) : NULL;
    return variable ? variable : find(text, source->key);
}

static void take_slabs(const char *text) {
    const char *sizes = find(text, "posix_pool_slab_size_kb"), *counts = find(text, "posix_pool_slab_count");
    size_t size[SLABS], count[SLABS];
    if (sizes && counts && sscanf(sizes, "[ %zu , %zu , %zu", &size[0], &size[1], &size[2]) == SLABS
        && sscanf(counts, "[ %zu , %zu , %zu", &count[0], &count[1], &count[2]) == SLABS)
        set_slabs(size, count);
}

void config_take(void) {
    char *text = load();
    for (int i = 0; i < SIZE_PARAMETERS; i++) {
        const char *value = value_of(text, &size_sources[i]);
        if (value && !size_set((enum size_parameter)i))
            set_size_parameter((enum size_parameter)i, strtoul(value, NULL, 10));
    }
    for (int i = 0; i < BOOL_PARAMETERS; i++) {
        const char *value = value_of(text, &bool_sources[i]);
        if (value && !bool_set((enum bool_parameter)i))
            set_bool_parameter((enum bool_parameter)i, !strncmp(value, "true", 4) || *value == '1');
    }
    if (text) take_slabs(text);
    free(text);
}

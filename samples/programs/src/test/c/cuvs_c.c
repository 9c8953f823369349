// SPDX-License-Identifier: Apache-2.0
// In place of libcuvs_c: its functions by their declarations in cuvs/neighbors/brute_force.h and cuvs/core/c_api.h, and
// what it demands of a tensor: two dimensions, floats, rows that lie side by side. It never calls a deleter.
#include <stdint.h>

typedef struct {
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
    void *manager_ctx;
    void (*deleter)(void *);
} DLManagedTensor;

typedef struct {
    uintptr_t addr;
    uint8_t code, bits;
    uint16_t lanes;
} cuvsBruteForceIndex;

static cuvsBruteForceIndex made;
static const char *error = "";

const char *cuvsGetLastErrorText(void)
{
    return error;
}

int cuvsBruteForceIndexCreate(cuvsBruteForceIndex **index)
{
    *index = &made;
    return 1;
}

int cuvsBruteForceBuild(uintptr_t resources, DLManagedTensor *t, int metric, float argument, cuvsBruteForceIndex *index)
{
    if (resources != 7 || metric != 0 || argument != 0.0f || t->ndim != 2 || t->code != 2 || t->bits != 32) {
        error = "unknown type";
        return 0;
    }
    if (t->strides && (t->strides[1] != 1 || t->strides[0] != t->shape[1])) {
        error = "dataset input to cuvsBruteForceBuild must be contiguous";
        return 0;
    }
    index->addr = (uintptr_t) t->data;
    return 1;
}

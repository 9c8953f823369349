// SPDX-License-Identifier: Apache-2.0
// A library that takes tensors of DLPack over, by declarations written after dlpack.h.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct {
    int32_t device_type;
    int32_t device_id;
} DLDevice;

typedef struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} DLDataType;

typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

static DLManagedTensor *taken;

// Takes a tensor over, and writes what it is.
void take(DLManagedTensor *tensor, char *text, size_t bytes)
{
    DLTensor *t = &tensor->dl_tensor;
    size_t at = snprintf(text, bytes, "device %d:%d, type %d:%d:%d,", t->device.device_type, t->device.device_id,
            t->dtype.code, t->dtype.bits, t->dtype.lanes);
    for (int i = 0; i < t->ndim && at < bytes; i++) {
        at += snprintf(text + at, bytes - at, " %lld by %lld", (long long) t->shape[i], (long long) t->strides[i]);
    }
    taken = tensor;
}

// Returns the number at a place of the matrix that was taken, as a library with strides finds it.
double number(int64_t row, int64_t column)
{
    DLTensor *t = &taken->dl_tensor;
    int64_t at = row * t->strides[0] + column * t->strides[1];
    char *data = (char *) t->data + t->byte_offset;
    return t->dtype.code == 1 ? (double) ((uint8_t *) data)[at] : (double) ((float *) data)[at];
}

// Ends the tensor, as its owner does once.
void end(void)
{
    DLManagedTensor *ended = taken;
    taken = NULL;
    ended->deleter(ended);
}

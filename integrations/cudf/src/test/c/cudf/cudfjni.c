// SPDX-License-Identifier: Apache-2.0
// What cudf's classes call of their native library, as ai.rapids:cudf 26.08.1 declares it, without a GPU: streams have nothing
// to wait for, and a view of a column is what it was made of.
#include <stdint.h>
#include <stdlib.h>

#define JNI(name) __attribute__((visibility("default"))) name

typedef struct {
    int32_t type, scale, rows, nulls;
    int64_t data, bytes;
} view;

static int64_t last_synchronized = -1;
static int32_t synchronizations, views;

uint8_t JNI(Java_ai_rapids_cudf_Cuda_isPtdsEnabled)(void *env, void *class) {
    (void)env, (void)class;
    return 1;
}

void JNI(Java_ai_rapids_cudf_Cuda_streamSynchronize)(void *env, void *class, int64_t stream) {
    (void)env, (void)class;
    last_synchronized = stream;
    synchronizations++;
}

int64_t JNI(Java_ai_rapids_cudf_ColumnView_makeCudfColumnView)(void *env, void *class, int32_t type, int32_t scale, int64_t data,
                                                               int64_t bytes, int64_t offsets, int64_t valid, int32_t nulls,
                                                               int32_t rows, void *children) {
    (void)env, (void)class;
    if (offsets || valid || children) // of strings, nulls and lists, which a view of a buffer has not
        abort();
    view *made = malloc(sizeof *made);
    *made = (view){type, scale, rows, nulls, data, bytes};
    views++;
    return (int64_t)(intptr_t)made;
}

#define GETTER(type, name, field)                                                              \
    type JNI(Java_ai_rapids_cudf_ColumnView_##name)(void *env, void *class, int64_t address) { \
        (void)env, (void)class;                                                                \
        return ((view *)(intptr_t)address)->field;                                             \
    }

GETTER(int32_t, getNativeTypeId, type)
GETTER(int32_t, getNativeTypeScale, scale)
GETTER(int32_t, getNativeRowCount, rows)
GETTER(int32_t, getNativeNullCount, nulls)
GETTER(int64_t, getNativeDataAddress, data)
GETTER(int64_t, getNativeDataLength, bytes)

void JNI(Java_ai_rapids_cudf_ColumnView_deleteColumnView)(void *env, void *class, int64_t address) {
    (void)env, (void)class;
    free((view *)(intptr_t)address);
    views--;
}

// For the tests.
int64_t JNI(fake_last_synchronized)(void) { return last_synchronized; }
int32_t JNI(fake_synchronizations)(void) { return synchronizations; }
int32_t JNI(fake_views)(void) { return views; }

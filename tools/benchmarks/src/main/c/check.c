// SPDX-License-Identifier: Apache-2.0
// Creates and checks the bytes of the test file in GPU memory, by a kernel. If the driver does not run kernels (a
// fake), they are copied and compared by the processor.
#include "gpu.h"

#include <string.h>

enum { THREADS = 256, BLOCKS = 4096, COPIED = 8 << 20 };

// Word i is that of the byte offset base + 8 i, or, where offsets are given, offsets[i >> shift] + 8 (i & mask).
#define WORD_OF_THREAD \
    "  .reg .pred %p<4>;\n .reg .b32 %r<8>;\n .reg .b64 %rd<24>;\n" \
    "  ld.param.u64 %rd1, [data];\n  cvta.to.global.u64 %rd1, %rd1;\n" \
    "  ld.param.u64 %rd2, [words];\n  ld.param.u64 %rd3, [base];\n" \
    "  ld.param.u64 %rd4, [offsets];\n  ld.param.u32 %r5, [shift];\n" \
    "  ld.param.u64 %rd14, [bad];\n" \
    "  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n  mov.u32 %r4, %nctaid.x;\n" \
    "  cvt.u64.u32 %rd5, %r3;\n  mad.wide.u32 %rd5, %r1, %r2, %rd5;\n  mul.wide.u32 %rd6, %r2, %r4;\n" \
    "  mov.u64 %rd7, 1;\n  shl.b64 %rd7, %rd7, %r5;\n  sub.u64 %rd7, %rd7, 1;\n" \
    "  setp.ne.u64 %p1, %rd4, 0;\n" \
    "LOOP:\n  setp.ge.u64 %p2, %rd5, %rd2;\n  @%p2 bra END;\n" \
    "  shl.b64 %rd8, %rd5, 3;\n  add.u64 %rd9, %rd1, %rd8;\n  add.u64 %rd10, %rd3, %rd8;\n" \
    "  @!%p1 bra MIX;\n" \
    "  shr.u64 %rd11, %rd5, %r5;\n  shl.b64 %rd11, %rd11, 3;\n  add.u64 %rd11, %rd4, %rd11;\n" \
    "  ld.u64 %rd11, [%rd11];\n  and.b64 %rd12, %rd5, %rd7;\n  shl.b64 %rd12, %rd12, 3;\n" \
    "  add.u64 %rd10, %rd11, %rd12;\n" \
    "MIX:\n  add.u64 %rd10, %rd10, 0x9E3779B97F4A7C15;\n  mul.lo.u64 %rd10, %rd10, 0xBF58476D1CE4E5B9;\n" \
    "  shr.u64 %rd13, %rd10, 27;\n  xor.b64 %rd10, %rd10, %rd13;\n  mul.lo.u64 %rd10, %rd10, 0x94D049BB133111EB;\n" \
    "  shr.u64 %rd13, %rd10, 31;\n  xor.b64 %rd10, %rd10, %rd13;\n"
#define NEXT_WORD "NEXT:\n  add.u64 %rd5, %rd5, %rd6;\n  bra LOOP;\nEND:\n  ret;\n}\n"
#define PARAMETERS \
    "(.param .u64 data, .param .u64 words, .param .u64 base, .param .u64 offsets, .param .u32 shift, .param .u64 bad)\n{\n"

static const char ptx[] =
        ".version 6.4\n.target sm_50\n.address_size 64\n"
        ".visible .entry fill" PARAMETERS WORD_OF_THREAD "  st.global.u64 [%rd9], %rd10;\n" NEXT_WORD
        ".visible .entry differ" PARAMETERS WORD_OF_THREAD
        "  ld.global.u64 %rd15, [%rd9];\n  setp.eq.u64 %p3, %rd15, %rd10;\n  @%p3 bra NEXT;\n"
        "  red.add.u64 [%rd14], 1;\n" NEXT_WORD;

static enum { UNKNOWN, KERNEL, COPY } by;
static CUfunction fill[MOST_DEVICES], differ[MOST_DEVICES];

static void prepare(void) {
    CUmodule module;
    int device = gpu_device();
    if (by == COPY || fill[device]) {
        return;
    }
    by = cuModuleLoadData && cuModuleGetFunction && cuLaunchKernel && cuModuleLoadData(&module, ptx) == CUDA_SUCCESS
                    && cuModuleGetFunction(&fill[device], module, "fill") == CUDA_SUCCESS
                    && cuModuleGetFunction(&differ[device], module, "differ") == CUDA_SUCCESS
            ? KERNEL
            : COPY;
}

const char *gpu_checked_by(void) {
    prepare();
    return by == KERNEL ? "kernel" : "copy";
}

static void launch(CUfunction kernel, CUdeviceptr data, uint64_t words, uint64_t base, CUdeviceptr offsets,
        uint32_t shift, CUdeviceptr bad) {
    void *parameters[] = {&data, &words, &base, &offsets, &shift, &bad};
    CUDA(cuLaunchKernel(kernel, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, parameters, NULL));
    CUDA(cuStreamSynchronize(NULL));
}

static uint64_t word_at(uint64_t i, uint64_t base, const int64_t *offsets, uint32_t shift) {
    return word(offsets ? (uint64_t)offsets[i >> shift] + 8 * (i & ((1ull << shift) - 1)) : base + 8 * i);
}

// The work of the kernels, by copies through pinned memory.
static uint64_t copy(int filling, CUdeviceptr data, uint64_t words, uint64_t base, const int64_t *offsets,
        uint32_t shift) {
    uint64_t *staging, bad = 0;
    CUDA(cuMemHostAlloc((void **)&staging, COPIED, 0));
    for (uint64_t from = 0; from < words; from += COPIED / 8) {
        uint64_t count = words - from < COPIED / 8 ? words - from : COPIED / 8;
        if (!filling) {
            CUDA(cuMemcpyDtoHAsync_v2(staging, data + 8 * from, 8 * count, NULL));
            CUDA(cuStreamSynchronize(NULL));
        }
        for (uint64_t i = 0; i < count; i++) {
            uint64_t right = word_at(from + i, base, offsets, shift);
            bad += !filling && staging[i] != right;
            staging[i] = right;
        }
        if (filling) {
            CUDA(cuMemcpyHtoDAsync_v2(data + 8 * from, staging, 8 * count, NULL));
            CUDA(cuStreamSynchronize(NULL));
        }
    }
    CUDA(cuMemFreeHost(staging));
    return bad;
}

void gpu_fill(CUdeviceptr memory, size_t bytes, uint64_t base) {
    prepare();
    if (by == KERNEL) {
        launch(fill[gpu_device()], memory, bytes / 8, base, 0, 0, 0);
    } else {
        copy(1, memory, bytes / 8, base, NULL, 0);
    }
}

static void move(CUdeviceptr device, void *host, size_t bytes, int up) {
    CUDA(up ? cuMemcpyHtoDAsync_v2(device, host, bytes, NULL) : cuMemcpyDtoHAsync_v2(host, device, bytes, NULL));
    CUDA(cuStreamSynchronize(NULL));
}

static uint64_t differences(CUdeviceptr memory, uint64_t words, uint64_t base, const int64_t *offsets, size_t count,
        uint32_t shift) {
    prepare();
    if (by == COPY) {
        return copy(0, memory, words, base, offsets, shift);
    }
    uint64_t bad = 0;
    CUdeviceptr cell; // the count, and the offsets behind it
    CUDA(cuMemAlloc_v2(&cell, 8 + 8 * count));
    move(cell, &bad, 8, 1);
    if (offsets) {
        move(cell + 8, (void *)offsets, 8 * count, 1);
    }
    launch(differ[gpu_device()], memory, words, base, offsets ? cell + 8 : 0, shift, cell);
    move(cell, &bad, 8, 0);
    CUDA(cuMemFree_v2(cell));
    return bad;
}

uint64_t gpu_differences(CUdeviceptr memory, size_t bytes, uint64_t base) {
    return differences(memory, bytes / 8, base, NULL, 0, 0);
}

uint64_t gpu_gather_differences(CUdeviceptr memory, size_t blocks, size_t block_bytes, const int64_t *offsets) {
    return differences(memory, blocks * block_bytes / 8, 0, offsets, blocks, (uint32_t)__builtin_ctzll(block_bytes / 8));
}

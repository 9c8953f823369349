// SPDX-License-Identifier: Apache-2.0
//
// Composes pictures of a volume on the device, slab by slab: the arithmetic of MaximumProjection, SlabWindow, RowMarch,
// LightGathering, Maxima and CoarseMap, operation by operation in 32-bit floats, so that the pictures are theirs. That needs IEEE
// division and square roots and no fused multiply-add (--fmad=false).
//
// In the common subset of CUDA C++, OpenCL C and C, so that it can be tested without a GPU: -DON_CPU makes each kernel a
// function that handles one index. Every parameter is 8 bytes wide, a device address or a number. OpenCL has buffers
// instead of addresses: there a slab is two parameters, the buffer and where in it.

#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT OFF
#define KERNEL(name, parameters) kernel void name
#define DEVICE static
#define GLOBAL global
#define SLAB global const u8 *slabs, i64 offset
#define SLAB_BYTES (slabs + offset)
#define INDEX ((i64) get_global_id(0))
#define LOWEST (-INFINITY)
#define sqrtf sqrt
typedef long i64;
#else
#define GLOBAL
#define SLAB const u8 *slab
#define SLAB_BYTES slab
typedef long long i64;
#ifdef ON_CPU
#include <math.h>
#define KERNEL(name, parameters) const int name##_parameters = parameters; void name
#define DEVICE static inline
__thread long long kernel_index;
#define INDEX kernel_index
#define LOWEST (-INFINITY)
#else
#define KERNEL(name, parameters) extern "C" __global__ void name
#define DEVICE static __device__ __forceinline__
#define INDEX (blockIdx.x * (long long) blockDim.x + threadIdx.x)
#define LOWEST __int_as_float((int) 0xff800000)
#endif
#endif

typedef unsigned char u8;
typedef unsigned short u16;

enum { UINT8, INT16, FLOAT32, INT8, UINT16 }; // VoxelType

enum { PAD = 2, SIDE = 512, ENTRIES = 1024 };

#define OPAQUE (1 / 512.0f)
#define FAR_AWAY 1e9f

typedef struct {
    int columns, rows, slices, type, swapped, falling;
    float lowest, perUnit, top; // CodeScale
    int outside, width, area, ring; // the window: padded slices, slice z in place z % ring
    int shift, cellColumns, cellRows, cellLayers; // CoarseMap
    float step[3], perStep[3]; // Rays
    float key[3], viewer[3], middle[3], hazePerSample; // Light
    float transparent, entriesPerCode, background, perContrast; // Tissue
    float perSpacing[3], foldReach[3]; // LightGathering
} Frame;

typedef struct {
    GLOBAL const Frame *frame;
    GLOBAL const u16 *codes;
    GLOBAL const float *means;
    GLOBAL const float *opacity;
} Scene;

typedef struct {
    float red, green, blue, clear;
} Light;

DEVICE float least(float a, float b) { return a < b ? a : b; }
DEVICE float most(float a, float b) { return a > b ? a : b; }

// The bytes may be unaligned: a slab starts where the file has it.
DEVICE float voxel(GLOBAL const Frame *f, GLOBAL const u8 *slab, i64 index) {
    float value;
    if (f->type == UINT8) {
        value = slab[index];
    } else if (f->type == INT8) {
        value = (signed char) slab[index];
    } else if (f->type == FLOAT32) {
        GLOBAL const u8 *b = slab + 4 * index;
        unsigned bits = f->swapped ? (unsigned) b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3]
                                   : (unsigned) b[3] << 24 | b[2] << 16 | b[1] << 8 | b[0];
        union { unsigned bits; float value; } both;
        both.bits = bits;
        value = both.value;
    } else {
        GLOBAL const u8 *b = slab + 2 * index;
        int bits = f->swapped ? b[0] << 8 | b[1] : b[1] << 8 | b[0];
        value = f->type == INT16 ? (float) (short) bits : (float) bits;
    }
    return f->falling ? -value : value;
}

// maxima: the largest voxel of each line of `length` voxels, `stride` apart; line (i, j) starts at i * across + j * along
// and ends up at first + i * columns + j. One index per line.
KERNEL(maxima, 11)(GLOBAL const Frame *f, SLAB, GLOBAL float *into, i64 lines, i64 columns, i64 first, i64 across,
        i64 along, i64 length, i64 stride, i64 keep) {
    if (INDEX >= lines) {
        return;
    }
    i64 i = INDEX / columns;
    i64 j = INDEX % columns;
    GLOBAL float *to = into + first + INDEX;
    float highest = keep ? *to : LOWEST;
    i64 at = i * across + j * along;
    for (i64 n = 0; n < length; n++, at += stride) {
        float value = voxel(f, SLAB_BYTES, at);
        if (value > highest) {
            highest = value;
        }
    }
    *to = highest;
}

// decode: the codes of `slices` slices of a slab, from its slice `from` on, into the window; the first is slice `z` of
// the padded volume. One index per voxel.
KERNEL(decode, 6)(GLOBAL const Frame *f, SLAB, GLOBAL u16 *codes, i64 from, i64 slices, i64 z) {
    i64 voxels = (i64) f->columns * f->rows;
    if (INDEX >= voxels * slices) {
        return;
    }
    i64 slice = INDEX / voxels;
    i64 y = INDEX % voxels / f->columns;
    i64 x = INDEX % f->columns;
    float code = (voxel(f, SLAB_BYTES, (from + slice) * voxels + INDEX % voxels) - f->lowest) * f->perUnit;
    float scaled = code != code ? 0 : least(code, f->top) + 0.5f;
    i64 at = (z + slice) % f->ring * f->area + (y + PAD) * f->width + PAD + x;
    codes[at] = (u16) (int) scaled;
}

// background: a slice of what lies around the volume. One index per code.
KERNEL(background, 3)(GLOBAL const Frame *f, GLOBAL u16 *codes, i64 z) {
    if (INDEX < f->area) {
        codes[z % f->ring * f->area + INDEX] = (u16) f->outside;
    }
}

// begin: what no ray has gathered yet. One index per pixel.
KERNEL(begin, 1)(GLOBAL Light *exposure) {
    if (INDEX < SIDE * SIDE) {
        Light none = {0, 0, 0, 1};
        exposure[INDEX] = none;
    }
}

DEVICE float codePlane(const Scene *s, i64 index, float p, float q) {
    GLOBAL const u16 *c = s->codes + index;
    float low = c[0] + (c[1] - c[0]) * p;
    GLOBAL const u16 *above = c + s->frame->width;
    float high = above[0] + (above[1] - above[0]) * p;
    return low + (high - low) * q;
}

DEVICE float codeAt(const Scene *s, float x, float y, float z) {
    GLOBAL const Frame *f = s->frame;
    int i = (int) x;
    int j = (int) y;
    int k = (int) z;
    i64 inSlice = (i64) j * f->width + i;
    float low = codePlane(s, (i64) (k % f->ring) * f->area + inSlice, x - i, y - j);
    float high = codePlane(s, (i64) ((k + 1) % f->ring) * f->area + inSlice, x - i, y - j);
    return low + (high - low) * (z - k);
}

DEVICE float meanPlane(const Scene *s, int cell, float p, float q) {
    GLOBAL const float *m = s->means + cell;
    float low = m[0] + (m[1] - m[0]) * p;
    GLOBAL const float *above = m + s->frame->cellColumns;
    float high = above[0] + (above[1] - above[0]) * p;
    return low + (high - low) * q;
}

DEVICE float inMap(float cell, int cells) { return most(0, least(cell, cells - 1.001f)); }

DEVICE float mean(const Scene *s, float x, float y, float z) {
    GLOBAL const Frame *f = s->frame;
    float scale = 1.0f / (1 << f->shift);
    float cx = inMap(x * scale - 0.5f + 0.5f * scale, f->cellColumns);
    float cy = inMap(y * scale - 0.5f + 0.5f * scale, f->cellRows);
    float cz = inMap(z * scale - 0.5f + 0.5f * scale, f->cellLayers);
    int i = (int) cx;
    int j = (int) cy;
    int k = (int) cz;
    int cell = (k * f->cellRows + j) * f->cellColumns + i;
    float low = meanPlane(s, cell, cx - i, cy - j);
    float high = meanPlane(s, cell + f->cellColumns * f->cellRows, cx - i, cy - j);
    return low + (high - low) * (cz - k);
}

DEVICE float density(GLOBAL const Frame *f, float code) { return (code - f->background) * f->perContrast; }

DEVICE float openness(const Scene *s, const float *at, const float *normal) {
    GLOBAL const Frame *f = s->frame;
    float sx = normal[0] * f->foldReach[0];
    float sy = normal[1] * f->foldReach[1];
    float sz = normal[2] * f->foldReach[2];
    float near = mean(s, at[0] + 1.3f * sx, at[1] + 1.3f * sy, at[2] + 1.3f * sz);
    float wide = mean(s, at[0] + 3.0f * sx, at[1] + 3.0f * sy, at[2] + 3.0f * sz);
    float shut = 0.6f * density(f, near) + 0.5f * density(f, wide);
    float open = 1 - most(0, least(shut, 1));
    return 0.12f + 0.88f * open;
}

DEVICE float product(const float *a, GLOBAL const float *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

DEVICE void gather(const Scene *s, Light *light, const float *at, float code, int k) {
    GLOBAL const Frame *f = s->frame;
    float x = at[0], y = at[1], z = at[2];
    float lll = codeAt(s, x - 1, y - 1, z - 1) - codeAt(s, x + 1, y + 1, z + 1);
    float hll = codeAt(s, x + 1, y - 1, z - 1) - codeAt(s, x - 1, y + 1, z + 1);
    float lhl = codeAt(s, x - 1, y + 1, z - 1) - codeAt(s, x + 1, y - 1, z + 1);
    float llh = codeAt(s, x - 1, y - 1, z + 1) - codeAt(s, x + 1, y + 1, z - 1);
    float n[3];
    n[0] = (lll - hll + lhl + llh) * f->perSpacing[0];
    n[1] = (lll + hll - lhl + llh) * f->perSpacing[1];
    n[2] = (lll + hll + lhl - llh) * f->perSpacing[2];
    float scale = 1 / sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] + 1e-6f);
    n[0] *= scale;
    n[1] *= scale;
    n[2] *= scale;
    float open = openness(s, at, n);
    float haze = 1 - f->hazePerSample * k;
    float toKey = most(0, 0.15f + 0.85f * product(n, f->key));
    float toViewer = most(0, product(n, f->viewer));
    float lit = (0.16f + 0.60f * toKey + 0.20f * toViewer) * open * haze;
    float shine = most(0, product(n, f->middle));
    float to4 = shine * shine * shine * shine;
    float to16 = to4 * to4 * to4 * to4;
    float glint = 0.16f * to16 * to4 * to4 * open * haze;
    int entry = (int) ((code - f->transparent) * f->entriesPerCode);
    float share = light->clear * s->opacity[entry < ENTRIES ? entry : ENTRIES];
    light->red += share * (lit * (0.80f + 0.16f * open) + glint);
    light->green += share * (lit * (0.56f + 0.32f * open) + glint);
    light->blue += share * (lit * (0.48f + 0.33f * open) + glint);
    light->clear -= share;
}

DEVICE float left(GLOBAL const Frame *f, float at, int axis) {
    if (f->step[axis] == 0) {
        return FAR_AWAY;
    }
    int cube = (int) at >> f->shift;
    float to = (float) (f->step[axis] > 0 ? (cube + 1) << f->shift : cube << f->shift);
    return (to - at) * f->perStep[axis];
}

DEVICE int cellOf(GLOBAL const Frame *f, const float *at) {
    return (((int) at[2] >> f->shift) * f->cellRows + ((int) at[1] >> f->shift)) * f->cellColumns
            + ((int) at[0] >> f->shift);
}

// How many samples from this one on lie in its cube of the map.
DEVICE int inCube(GLOBAL const Frame *f, const float *at) {
    float samples = least(left(f, at[0], 0), least(left(f, at[1], 1), left(f, at[2], 2)));
    return (int) (samples - 0.01f) + 1;
}

// Finds a sample's position; returns whether that lies in the padded slices [from, to).
DEVICE int reaches(GLOBAL const Frame *f, GLOBAL const float *start, int sample, float from, float to, float *at) {
    for (int axis = 0; axis < 3; axis++) {
        at[axis] = start[axis] + sample * f->step[axis];
    }
    return at[2] >= from && at[2] < to;
}

// march: moves every ray through the padded slices [from, to), whose neighbours are in the window too, to gather light.
// starts: x, y and z of sample 0 of each ray; next and end: its samples still to take. One index per pixel.
KERNEL(march, 11)(GLOBAL const Frame *f, GLOBAL const u16 *codes, GLOBAL const u16 *highest, GLOBAL const float *starts,
        GLOBAL int *next, GLOBAL const int *end, GLOBAL const float *means, GLOBAL const float *opacity,
        GLOBAL Light *exposure, i64 from, i64 to) {
    if (INDEX >= SIDE * SIDE || next[INDEX] >= end[INDEX]) {
        return;
    }
    Scene scene = {f, codes, means, opacity};
    Light light = exposure[INDEX];
    int sample = next[INDEX];
    float at[3];
    while (sample < end[INDEX] && reaches(f, starts + 3 * INDEX, sample, (float) from, (float) to, at)) {
        if (!(highest[cellOf(f, at)] > f->transparent)) {
            sample += inCube(f, at);
            continue;
        }
        float code = codeAt(&scene, at[0], at[1], at[2]);
        if (code > f->transparent) {
            gather(&scene, &light, at, code, sample);
            if (light.clear < OPAQUE) {
                sample = end[INDEX];
                break;
            }
        }
        sample++;
    }
    next[INDEX] = sample;
    exposure[INDEX] = light;
}

// brightest: moves them in the same way to find the largest code of each.
KERNEL(brightest, 9)(GLOBAL const Frame *f, GLOBAL const u16 *codes, GLOBAL const u16 *highest,
        GLOBAL const float *starts, GLOBAL int *next, GLOBAL const int *end, GLOBAL float *maxima, i64 from, i64 to) {
    if (INDEX >= SIDE * SIDE || next[INDEX] >= end[INDEX]) {
        return;
    }
    Scene scene = {f, codes, 0, 0};
    float largest = maxima[INDEX];
    int sample = next[INDEX];
    float at[3];
    while (sample < end[INDEX] && reaches(f, starts + 3 * INDEX, sample, (float) from, (float) to, at)) {
        if (!(highest[cellOf(f, at)] > largest)) {
            sample += inCube(f, at);
            continue;
        }
        largest = most(largest, codeAt(&scene, at[0], at[1], at[2]));
        sample++;
    }
    next[INDEX] = sample;
    maxima[INDEX] = largest;
}

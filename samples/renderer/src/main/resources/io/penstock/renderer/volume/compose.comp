// SPDX-License-Identifier: Apache-2.0
//
// The kernels of compose.cu as compute shaders: the same arithmetic, where floats decide. Maxima are found among integers
// that are in the order of the floats, so that they are exact on every GPU, whatever it does to small floats.
//
// KERNEL_name says which one this is. Of the parameters there, the frame is a uniform block, the slab a 3D texture of
// unsigned integers with the bits of the file's voxels, the other addresses storage buffers in their order, and numbers
// an array of uniforms. GLSL has no 16-bit numbers in buffers: two codes share a word, and a word has one writer. Threads
// may be fewer than indices: each handles its own, and all that are that many further.

layout(local_size_x = 64) in;

const int PAD = 2;
const int ENTRIES = 1024;
const float OPAQUE = 1.0 / 512.0;
const float FAR_AWAY = 1e9;

const int UINT8 = 0, INT16 = 1, FLOAT32 = 2, INT8 = 3, UINT16 = 4; // VoxelType

layout(std140, binding = 0) uniform Frame {
    int columns, rows, slices, type, swapped, falling;
    float lowest, perUnit, top; // CodeScale
    int outside, width, area, ring; // the window: padded slices, slice z in place z % ring
    int shift, cellColumns, cellRows, cellLayers; // CoarseMap
    float stepX, stepY, stepZ, perStepX, perStepY, perStepZ; // Rays
    float keyX, keyY, keyZ, viewerX, viewerY, viewerZ, middleX, middleY, middleZ, hazePerSample; // Light
    float transparent, entriesPerCode, background, perContrast; // Tissue
    float perSpacingX, perSpacingY, perSpacingZ, foldReachX, foldReachY, foldReachZ; // LightGathering
};

layout(location = 0) uniform int number[8];

uint threads() {
    return gl_NumWorkGroups.x * gl_NumWorkGroups.y * gl_WorkGroupSize.x;
}

uint thread() {
    return (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
}

#define EACH_INDEX_BELOW(count) for (uint index = thread(); index < uint(count); index += threads())

#if defined(KERNEL_maxima) || defined(KERNEL_decode)

layout(binding = 0) uniform usampler3D slab;

uint swappedBytes(uint bits) {
    return bits << 24 | (bits & 0xff00u) << 8 | (bits >> 8 & 0xff00u) | bits >> 24;
}

// The bits of a voxel as a 32-bit float.
uint voxel(ivec3 at) {
    uint bits = texelFetch(slab, at, 0).r;
    if (type == FLOAT32) {
        bits = swapped != 0 ? swappedBytes(bits) : bits;
        return falling != 0 ? bits ^ 0x80000000u : bits;
    }
    bool wide = type == INT16 || type == UINT16;
    if (wide && swapped != 0) {
        bits = swappedBytes(bits) >> 16;
    }
    int value = int(bits);
    if (type == INT8 || type == INT16) {
        value = bitfieldExtract(value, 0, wide ? 16 : 8);
    }
    return floatBitsToUint(falling != 0 ? -float(value) : float(value));
}

bool isNone(uint bits) {
    return (bits & 0x7fffffffu) > 0x7f800000u;
}

#endif

#ifdef KERNEL_maxima

layout(std430, binding = 0) buffer Into { uint into[]; };

// Where a float is among all floats.
uint order(uint bits) {
    return (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u;
}

ivec3 place(int voxels) {
    return ivec3(voxels % columns, voxels / columns % rows, voxels / columns / rows);
}

// number: lines, columns, first, across, along, length, stride, keep
void main() {
    ivec3 next = place(number[6]);
    EACH_INDEX_BELOW(number[0]) {
        int i = int(index) / number[1];
        int j = int(index) % number[1];
        uint to = uint(number[2]) + index;
        uint highest = number[7] != 0 ? into[to] : 0xff800000u;
        ivec3 at = place(i * number[3] + j * number[4]);
        for (int n = 0; n < number[5]; n++, at += next) {
            uint value = voxel(at);
            if (!isNone(value) && order(value) > order(highest)) {
                highest = value;
            }
        }
        into[to] = highest;
    }
}

#endif

#ifdef KERNEL_decode

layout(std430, binding = 0) buffer Codes { uint codes[]; };

uint code(ivec3 at) {
    uint bits = voxel(at);
    float scaled = (uintBitsToFloat(bits) - lowest) * perUnit;
    return isNone(bits) ? 0u : uint(clamp(scaled, 0.0, top) + 0.5);
}

// number: from, slices, z. One index per word of the window.
void main() {
    int first = number[2] % ring;
    int all = ring * area;
    EACH_INDEX_BELOW((all + 1) / 2) {
        uint bits = codes[index];
        for (int side = 0; side < 2; side++) {
            int at = 2 * int(index) + side;
            int added = (at / area - first + ring) % ring;
            if (at < all && added < number[1]) {
                ivec3 from = ivec3(at % area % width - PAD, at % area / width - PAD, number[0] + added);
                bool inside = from.x >= 0 && from.y >= 0 && from.x < columns && from.y < rows;
                bits = bitfieldInsert(bits, inside ? code(from) : uint(outside), 16 * side, 16);
            }
        }
        codes[index] = bits;
    }
}

#endif

#ifdef KERNEL_background

layout(std430, binding = 0) buffer Codes { uint codes[]; };

// number: z. One index per word of the slice.
void main() {
    int from = number[0] % ring * area;
    int word = from / 2;
    EACH_INDEX_BELOW((from + area - 1) / 2 - word + 1) {
        uint bits = codes[word + int(index)];
        for (int side = 0; side < 2; side++) {
            int at = 2 * (word + int(index)) + side;
            if (at >= from && at < from + area) {
                bits = bitfieldInsert(bits, uint(outside), 16 * side, 16);
            }
        }
        codes[word + int(index)] = bits;
    }
}

#endif

#ifdef KERNEL_begin

layout(std430, binding = 0) buffer Exposure { vec4 exposure[]; };

void main() {
    EACH_INDEX_BELOW(exposure.length()) {
        exposure[index] = vec4(0, 0, 0, 1);
    }
}

#endif

#if defined(KERNEL_march) || defined(KERNEL_brightest)

layout(std430, binding = 0) readonly buffer Codes { uint codes[]; };
layout(std430, binding = 1) readonly buffer Highest { uint highest[]; };
layout(std430, binding = 2) readonly buffer Starts { float starts[]; };
layout(std430, binding = 3) buffer Next { int next[]; };
layout(std430, binding = 4) readonly buffer End { int end[]; };

float code(int at) {
    return float(bitfieldExtract(codes[at >> 1], (at & 1) << 4, 16));
}

// Rounded after each operation, as the processor does: maxima are the same to the bit.
float between(float low, float high, float part) {
    precise float value = low + (high - low) * part;
    return value;
}

float codePlane(int at, float p, float q) {
    int above = at + width;
    return between(between(code(at), code(at + 1), p), between(code(above), code(above + 1), p), q);
}

float codeAt(vec3 at) {
    ivec3 cell = ivec3(at);
    vec3 part = at - vec3(cell);
    int inSlice = cell.y * width + cell.x;
    float low = codePlane(cell.z % ring * area + inSlice, part.x, part.y);
    float high = codePlane((cell.z + 1) % ring * area + inSlice, part.x, part.y);
    return between(low, high, part.z);
}

float left(float at, float to, float perStep) {
    int cube = int(at) >> shift;
    float end = float(to > 0.0 ? (cube + 1) << shift : cube << shift);
    return to == 0.0 ? FAR_AWAY : (end - at) * perStep;
}

int cellOf(vec3 at) {
    ivec3 cube = ivec3(at) >> shift;
    return (cube.z * cellRows + cube.y) * cellColumns + cube.x;
}

float highestIn(int cell) {
    return float(bitfieldExtract(highest[cell >> 1], (cell & 1) << 4, 16));
}

// How many samples from this one on lie in its cube of the map.
int inCube(vec3 at) {
    float samples = min(left(at.x, stepX, perStepX), min(left(at.y, stepY, perStepY), left(at.z, stepZ, perStepZ)));
    return int(samples - 0.01) + 1;
}

vec3 positionOf(uint pixel, int k) {
    vec3 start = vec3(starts[3u * pixel], starts[3u * pixel + 1u], starts[3u * pixel + 2u]);
    precise vec3 at = start + float(k) * vec3(stepX, stepY, stepZ);
    return at;
}

// number: from, to
bool isReady(vec3 at) {
    return at.z >= float(number[0]) && at.z < float(number[1]);
}

void move(uint pixel);

void main() {
    EACH_INDEX_BELOW(next.length()) {
        if (next[index] < end[index]) {
            move(index);
        }
    }
}

#endif

#ifdef KERNEL_march

layout(std430, binding = 5) readonly buffer Means { float means[]; };
layout(std430, binding = 6) readonly buffer Opacity { float opacity[]; };
layout(std430, binding = 7) buffer Exposure { vec4 exposure[]; };

float meanPlane(int cell, float p, float q) {
    int above = cell + cellColumns;
    return between(between(means[cell], means[cell + 1], p), between(means[above], means[above + 1], p), q);
}

float mean(vec3 at) {
    float scale = 1.0 / float(1 << shift);
    vec3 most = vec3(cellColumns, cellRows, cellLayers) - 1.001;
    vec3 in_map = clamp(at * scale - 0.5 + 0.5 * scale, vec3(0), most);
    ivec3 cell = ivec3(in_map);
    vec3 part = in_map - vec3(cell);
    int first = (cell.z * cellRows + cell.y) * cellColumns + cell.x;
    float low = meanPlane(first, part.x, part.y);
    float high = meanPlane(first + cellColumns * cellRows, part.x, part.y);
    return between(low, high, part.z);
}

float density(float code) {
    return (code - background) * perContrast;
}

float openness(vec3 at, vec3 normal) {
    vec3 reach = normal * vec3(foldReachX, foldReachY, foldReachZ);
    float shut = 0.6 * density(mean(at + 1.3 * reach)) + 0.5 * density(mean(at + 3.0 * reach));
    return 0.12 + 0.88 * (1.0 - clamp(shut, 0.0, 1.0));
}

vec4 gathered(vec4 light, vec3 at, float code, int k) {
    float lll = codeAt(at + vec3(-1, -1, -1)) - codeAt(at + vec3(1, 1, 1));
    float hll = codeAt(at + vec3(1, -1, -1)) - codeAt(at + vec3(-1, 1, 1));
    float lhl = codeAt(at + vec3(-1, 1, -1)) - codeAt(at + vec3(1, -1, 1));
    float llh = codeAt(at + vec3(-1, -1, 1)) - codeAt(at + vec3(1, 1, -1));
    vec3 n = vec3(lll - hll + lhl + llh, lll + hll - lhl + llh, lll + hll + lhl - llh);
    n *= vec3(perSpacingX, perSpacingY, perSpacingZ);
    n *= 1.0 / sqrt(dot(n, n) + 1e-6);
    float open = openness(at, n);
    float haze = 1.0 - hazePerSample * float(k);
    float toKey = max(0.0, 0.15 + 0.85 * dot(n, vec3(keyX, keyY, keyZ)));
    float toViewer = max(0.0, dot(n, vec3(viewerX, viewerY, viewerZ)));
    float lit = (0.16 + 0.60 * toKey + 0.20 * toViewer) * open * haze;
    float shine = max(0.0, dot(n, vec3(middleX, middleY, middleZ)));
    float to4 = shine * shine * shine * shine;
    float to16 = to4 * to4 * to4 * to4;
    float glint = 0.16 * to16 * to4 * to4 * open * haze;
    int entry = int((code - transparent) * entriesPerCode);
    float share = light.a * opacity[min(entry, ENTRIES)];
    vec3 colour = lit * vec3(0.80 + 0.16 * open, 0.56 + 0.32 * open, 0.48 + 0.33 * open) + glint;
    return vec4(light.rgb + share * colour, light.a - share);
}

void move(uint pixel) {
    vec4 light = exposure[pixel];
    int last = end[pixel];
    int k = next[pixel];
    vec3 at = positionOf(pixel, k);
    for (; k < last && isReady(at); at = positionOf(pixel, k)) {
        if (!(highestIn(cellOf(at)) > transparent)) {
            k += inCube(at);
            continue;
        }
        float code = codeAt(at);
        if (code > transparent) {
            light = gathered(light, at, code, k);
            if (light.a < OPAQUE) {
                k = last;
                break;
            }
        }
        k++;
    }
    next[pixel] = k;
    exposure[pixel] = light;
}

#endif

#ifdef KERNEL_brightest

layout(std430, binding = 5) buffer Maxima { float maxima[]; };

void move(uint pixel) {
    float largest = maxima[pixel];
    int last = end[pixel];
    int k = next[pixel];
    vec3 at = positionOf(pixel, k);
    for (; k < last && isReady(at); at = positionOf(pixel, k)) {
        if (!(highestIn(cellOf(at)) > largest)) {
            k += inCube(at);
            continue;
        }
        largest = max(largest, codeAt(at));
        k++;
    }
    next[pixel] = k;
    maxima[pixel] = largest;
}

#endif

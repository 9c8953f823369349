// SPDX-License-Identifier: Apache-2.0
// Runs a kernel of compose.cu, built with -DON_CPU, index by index.
extern __thread long long kernel_index;

typedef long long i64;
typedef void (*Kernel)(i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64);

void run_kernel(Kernel kernel, i64 indices, const i64 *a) {
    for (i64 i = 0; i < indices; i++) {
        kernel_index = i;
        kernel(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10]);
    }
}

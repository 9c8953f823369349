// SPDX-License-Identifier: Apache-2.0
/*
 * The double of libhiprtc, from AMD's documentation: a front before backend-cufile's fake of NVRTC, which compiles for the
 * processor. What differs from NVRTC is here: clang's options, none of NVRTC's, and code instead of PTX.
 */
#include <stddef.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { INVALID_OPTION = 5 };

struct program;

int nvrtcCreateProgram(struct program **made, const char *source, const char *name, int headers,
                       const char *const *contents, const char *const *names);
int nvrtcCompileProgram(struct program *program, int count, const char *const *options);
int nvrtcGetPTXSize(struct program *program, size_t *bytes);
int nvrtcGetPTX(struct program *program, char *code);
int nvrtcGetProgramLogSize(struct program *program, size_t *bytes);
int nvrtcGetProgramLog(struct program *program, char *log);
int nvrtcDestroyProgram(struct program **program);

static const char *const OPTIONS[] = {"--offload-arch=gfx", "--gpu-architecture=gfx", "-ffp-contract="};

EXPORT int hiprtcCreateProgram(struct program **made, const char *source, const char *name, int headers,
                               const char *const *contents, const char *const *names) {
    return nvrtcCreateProgram(made, source, name, headers, contents, names);
}

static int known(const char *option) {
    for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++) {
        if (!strncmp(option, OPTIONS[i], strlen(OPTIONS[i]))) return 1;
    }
    return 0;
}

/* Without an architecture it compiles for the current device. */
EXPORT int hiprtcCompileProgram(struct program *program, int count, const char *const *options) {
    for (int i = 0; i < count; i++) {
        if (!known(options[i])) return INVALID_OPTION;
    }
    return nvrtcCompileProgram(program, 0, NULL);
}

EXPORT int hiprtcGetCodeSize(struct program *program, size_t *bytes) { return nvrtcGetPTXSize(program, bytes); }
EXPORT int hiprtcGetCode(struct program *program, char *code) { return nvrtcGetPTX(program, code); }
EXPORT int hiprtcGetProgramLogSize(struct program *program, size_t *bytes) { return nvrtcGetProgramLogSize(program, bytes); }
EXPORT int hiprtcGetProgramLog(struct program *program, char *log) { return nvrtcGetProgramLog(program, log); }
EXPORT int hiprtcDestroyProgram(struct program **program) { return nvrtcDestroyProgram(program); }

// SPDX-License-Identifier: Apache-2.0
/*
 * A fake of NVIDIA's runtime compiler: compiles a source in the common subset of CUDA C++ and C for the processor
 * (-DON_CPU), and gives as "PTX" the name of the library, which the fake of libcuda loads. Options are checked for what
 * nvrtcCompileProgram would refuse.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, INVALID_INPUT = 3, INVALID_PROGRAM = 4, INVALID_OPTION = 5, COMPILATION = 6 };

struct program {
    char *source;
    char ptx[256];
    char log[4096];
};

static const char *const OPTIONS[] = {"--gpu-architecture=compute_", "--fmad=", "--prec-div=", "--prec-sqrt=", "--ftz="};

EXPORT int nvrtcCreateProgram(struct program **made, const char *source, const char *name, int headers,
                              const char *const *contents, const char *const *names) {
    (void)name;
    (void)contents;
    (void)names;
    if (!made || !source || headers) return INVALID_INPUT;
    *made = calloc(1, sizeof **made);
    if (!*made || !((*made)->source = strdup(source))) abort();
    return SUCCESS;
}

static int known(const char *option) {
    for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++) {
        if (!strncmp(option, OPTIONS[i], strlen(OPTIONS[i]))) return 1;
    }
    return 0;
}

EXPORT int nvrtcCompileProgram(struct program *program, int count, const char *const *options) {
    if (!program) return INVALID_PROGRAM;
    for (int i = 0; i < count; i++) {
        if (!known(options[i])) {
            snprintf(program->log, sizeof program->log, "unknown option %s", options[i]);
            return INVALID_OPTION;
        }
    }
    char folder[] = "/tmp/penstock-nvrtc-XXXXXX";
    if (!mkdtemp(folder)) return COMPILATION;
    char source[300], command[1200];
    snprintf(source, sizeof source, "%s/source.c", folder);
    FILE *file = fopen(source, "w");
    if (!file) return COMPILATION;
    fprintf(file, "%s\nvoid set_kernel_index(long long index) { kernel_index = index; }\n", program->source);
    fclose(file);
    snprintf(command, sizeof command,
             "cc -std=gnu11 -O2 -ffp-contract=off -fPIC -shared -DON_CPU -o %s/kernels.so %s -lm 2>&1", folder, source);
    FILE *compiler = popen(command, "r");
    if (!compiler) return COMPILATION;
    size_t length = fread(program->log, 1, sizeof program->log - 1, compiler);
    program->log[length] = 0;
    int status = pclose(compiler);
    snprintf(program->ptx, sizeof program->ptx, "//compiled:%s/kernels.so\n", folder);
    unlink(source);
    return status ? COMPILATION : SUCCESS;
}

EXPORT int nvrtcGetPTXSize(struct program *program, size_t *bytes) {
    *bytes = strlen(program->ptx) + 1;
    return SUCCESS;
}

EXPORT int nvrtcGetPTX(struct program *program, char *ptx) {
    strcpy(ptx, program->ptx);
    return SUCCESS;
}

EXPORT int nvrtcGetProgramLogSize(struct program *program, size_t *bytes) {
    *bytes = strlen(program->log) + 1;
    return SUCCESS;
}

EXPORT int nvrtcGetProgramLog(struct program *program, char *log) {
    strcpy(log, program->log);
    return SUCCESS;
}

EXPORT int nvrtcDestroyProgram(struct program **program) {
    if (*program) {
        free((*program)->source);
        free(*program);
    }
    *program = NULL;
    return SUCCESS;
}

// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "check.h"

#include <sys/stat.h>
#include <unistd.h>

cl_platform_id platform;
cl_device_id device;
cl_context context;
cl_command_queue in_order, out_of_order;
cl_file_amd (*create_file)(cl_context, cl_file_flags_amd, const wchar_t *, cl_int *);
cl_int (*file_info)(cl_file_amd, cl_file_info_amd, size_t, void *, size_t *);
cl_int (*retain_file)(cl_file_amd);
cl_int (*release_file)(cl_file_amd);
transfer_fn read_file, write_file;

static struct test *tests;
static const char *running = "", *folder;
static int failures;

void test_add(struct test *test) {
    test->next = tests;
    tests = test;
}

void failed(const char *file, int line, const char *what) {
    printf("%s: %s:%d: not %s\n", running, file, line, what);
    failures++;
}

void differs(const char *file, int line, const char *what, long actual, long expected) {
    printf("%s: %s:%d: %s is %ld, not %ld\n", running, file, line, what, actual, expected);
    failures++;
}

void complained(const char *part) {
    const char *complaint = fake_complaint();
    if (!complaint || !strstr(complaint, part)) {
        printf("%s: complaint %s, not %s\n", running, complaint ? complaint : "(none)", part);
        failures++;
    }
    fake_forgive();
}

void refused(const char *part) {
    const char *refusal = fake_refusal(fake_refusals() - 1);
    if (refusal && strstr(refusal, part)) return;
    printf("%s: refusal %s, not %s\n", running, refusal ? refusal : "(none)", part);
    failures++;
}

unsigned char byte_at(size_t offset) {
    return (unsigned char)(offset * 31 + (offset >> 9) * 7 + 1);
}

const char *in_folder(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

const wchar_t *fresh_file(void) {
    static wchar_t wide[4096];
    const char *path = in_folder("data");
    FILE *file = fopen(path, "wb");
    if (!file) abort();
    for (size_t i = 0; i < FILE_BYTES; i++) fputc(byte_at(i), file);
    fclose(file);
    size_t i = 0;
    for (; path[i]; i++) wide[i] = (wchar_t)path[i];
    wide[i] = 0;
    return wide;
}

long file_length(void) {
    struct stat about;
    return stat(in_folder("data"), &about) ? -1 : (long)about.st_size;
}

int file_byte(long offset) {
    FILE *file = fopen(in_folder("data"), "rb");
    if (!file || fseek(file, offset, SEEK_SET)) abort();
    int byte = fgetc(file);
    fclose(file);
    return byte;
}

cl_file_amd opened(cl_file_flags_amd flags) {
    cl_int code = 1;
    cl_file_amd file = create_file(context, flags, fresh_file(), &code);
    OK(code);
    CHECK(file);
    return file;
}

cl_mem buffer_of(cl_mem_flags flags, size_t size) {
    cl_int code = 1;
    cl_mem buffer = clCreateBuffer(context, flags, size, NULL, &code);
    OK(code);
    return buffer;
}

cl_mem host_buffer(void *memory, size_t size) {
    cl_int code = 1;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, size, memory, &code);
    OK(code);
    return buffer;
}

void bytes_of(cl_mem buffer, size_t offset, size_t size, unsigned char *to) {
    OK(clEnqueueReadBuffer(in_order, buffer, CL_TRUE, offset, size, to, 0, NULL, NULL));
}

void holds_file(cl_mem buffer, size_t offset, size_t size, size_t file_offset) {
    unsigned char *bytes = malloc(size);
    bytes_of(buffer, offset, size, bytes);
    size_t same = 0;
    while (same < size && bytes[same] == byte_at(file_offset + same)) same++;
    SAME(same, size);
    free(bytes);
}

cl_int status_of(cl_event event) {
    cl_int status = 99;
    OK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    return status;
}

cl_int ended(cl_event event) {
    clWaitForEvents(1, &event);
    cl_int status = status_of(event);
    while (status > CL_COMPLETE) {
        usleep(100);
        status = status_of(event);
    }
    OK(clReleaseEvent(event));
    return status;
}

static void *function(const char *name) {
    return clGetExtensionFunctionAddressForPlatform(platform, name);
}

static void find_functions(void) {
    *(void **)&create_file = function("clCreateSsgFileObjectAMD");
    *(void **)&file_info = function("clGetSsgFileObjectInfoAMD");
    *(void **)&retain_file = function("clRetainSsgFileObjectAMD");
    *(void **)&release_file = function("clReleaseSsgFileObjectAMD");
    *(void **)&read_file = function("clEnqueueReadSsgFileAMD");
    *(void **)&write_file = function("clEnqueueWriteSsgFileAMD");
}

static void run(struct test *test) {
    running = test->name;
    fake_reset();
    fake_set("armed", 1);
    /* A driver that is kinder than the manual; tests of what it promises set these back. */
    fake_set("read_write", 1);
    fake_set("flush", 0);
    find_functions();
    cl_int code;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    OK(code);
    cl_queue_properties free_order[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    in_order = clCreateCommandQueueWithProperties(context, device, NULL, &code);
    OK(code);
    out_of_order = clCreateCommandQueueWithProperties(context, device, free_order, &code);
    OK(code);
    test->run();
    OK(clFinish(in_order));
    OK(clFinish(out_of_order));
    SAME(fake_await_live("operations", 0, 10000), 0);
    OK(clReleaseCommandQueue(in_order));
    OK(clReleaseCommandQueue(out_of_order));
    OK(clReleaseContext(context));
    static const char *const kinds[] = {"contexts", "queues", "buffers", "images", "events", "files", "persistent_bytes"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!fake_live(kinds[i])) continue;
        printf("%s: leaves %ld %s\n", running, fake_live(kinds[i]), kinds[i]);
        failures++;
    }
    if (fake_complaint()) failed(test->name, 0, fake_complaint());
}

/* The folder of files, and perhaps the name of one test. */
int main(int count, char **arguments) {
    folder = count > 1 ? arguments[1] : ".";
    setvbuf(stdout, NULL, _IONBF, 0);
    if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) {
        printf("there is no OpenCL\n");
        return 2;
    }
    int ran = 0;
    for (struct test *test = tests; test; test = test->next) {
        if (count > 2 && strcmp(arguments[2], test->name)) continue;
        run(test);
        ran++;
    }
    fake_reset();
    printf("%d tests, %d failures\n", ran, failures);
    return failures || !ran;
}

// SPDX-License-Identifier: Apache-2.0
#include "check.h"

enum { FILLED = 0x77 };

static cl_mem filled(cl_mem_flags flags, size_t size) {
    unsigned char pattern = FILLED;
    cl_mem buffer = buffer_of(flags, size);
    OK(clEnqueueFillBuffer(in_order, buffer, &pattern, 1, 0, size, 0, NULL, NULL));
    OK(clFinish(in_order));
    return buffer;
}

static void writes(cl_mem buffer) {
    cl_file_amd file = opened(CL_FILE_WRITE_ONLY_AMD);
    cl_event event;
    OK(write_file(in_order, buffer, CL_FALSE, 512, 1024, file, 2048, 0, NULL, &event));
    OK(ended(event));
    SAME(file_byte(2047), byte_at(2047));
    SAME(file_byte(2048), FILLED);
    SAME(file_byte(3071), FILLED);
    SAME(file_byte(3072), byte_at(3072));
    SAME(file_length(), FILE_BYTES);
    OK(release_file(file));
    OK(clReleaseMemObject(buffer));
}

TEST(bytes_leave_every_kind_of_buffer) {
    writes(filled(MEM_PERSISTENT, 4096));
    writes(filled(CL_MEM_ALLOC_HOST_PTR, 4096));
    writes(filled(CL_MEM_HOST_WRITE_ONLY, 4096));
    writes(filled(CL_MEM_READ_ONLY, 4096));
    SAME(fake_refusals(), 0);
}

TEST(a_write_may_lengthen_the_file_by_whole_blocks) {
    fake_set("grows", 1);
    cl_file_amd file = opened(CL_FILE_WRITE_ONLY_AMD);
    cl_mem buffer = filled(CL_MEM_ALLOC_HOST_PTR, 4096);
    OK(write_file(in_order, buffer, CL_TRUE, 0, 512, file, ROUNDED - 512, 0, NULL, NULL));
    SAME(file_length(), ROUNDED);
    SAME(file_byte(ROUNDED - 1), FILLED);
    cl_event event;
    OK(write_file(in_order, buffer, CL_FALSE, 0, 4096, file, ROUNDED + 512, 0, NULL, &event));
    OK(ended(event));
    SAME(file_length(), ROUNDED + 512 + 4096);
    SAME(file_byte(ROUNDED), 0);
    cl_ulong size;
    OK(file_info(file, CL_FILE_SIZE_AMD, sizeof size, &size, NULL));
    SAME(size, FILE_BYTES);
    OK(release_file(file));
    OK(clReleaseMemObject(buffer));
}

TEST(or_it_leaves_the_file_as_long_as_it_is) {
    cl_file_amd file = opened(CL_FILE_WRITE_ONLY_AMD);
    cl_mem buffer = filled(CL_MEM_ALLOC_HOST_PTR, 4096);
    cl_event event;
    OK(write_file(in_order, buffer, CL_TRUE, 0, 512, file, ROUNDED - 512, 0, NULL, NULL));
    SAME(file_length(), FILE_BYTES);
    SAME(file_byte(FILE_BYTES - 1), FILLED);
    OK(write_file(in_order, buffer, CL_FALSE, 0, 1024, file, ROUNDED - 512, 0, NULL, &event));
    SAME(ended(event), CL_INVALID_OPERATION);
    SAME(file_length(), FILE_BYTES);
    OK(release_file(file));
    OK(clReleaseMemObject(buffer));
}

TEST(what_was_written_behind_the_end_may_stay_unseen_by_a_file_object) {
    cl_file_amd reader = opened(CL_FILE_READ_ONLY_AMD), writer = opened(CL_FILE_WRITE_ONLY_AMD);
    cl_mem buffer = filled(CL_MEM_ALLOC_HOST_PTR, 512);
    cl_event event;
    fake_set("grows", 1);
    fake_set("growth_seen", 1);
    OK(write_file(in_order, buffer, CL_TRUE, 0, 512, writer, ROUNDED, 0, NULL, NULL));
    OK(read_file(in_order, buffer, CL_FALSE, 0, 512, reader, ROUNDED, 0, NULL, &event));
    OK(ended(event));
    fake_set("growth_seen", 0);
    OK(read_file(in_order, buffer, CL_FALSE, 0, 512, reader, ROUNDED, 0, NULL, &event));
    SAME(ended(event), CL_INVALID_OPERATION);
    OK(release_file(reader));
    OK(release_file(writer));
    OK(clReleaseMemObject(buffer));
}

TEST(a_file_object_does_what_it_was_opened_for) {
    cl_mem buffer = filled(CL_MEM_ALLOC_HOST_PTR, 512);
    static const cl_file_flags_amd flags[] = {CL_FILE_READ_ONLY_AMD, CL_FILE_WRITE_ONLY_AMD, CL_FILE_READ_WRITE_AMD, 0};
    for (int i = 0; i < 4; i++) {
        cl_file_amd file = opened(flags[i]);
        cl_event read, write;
        OK(read_file(in_order, buffer, CL_FALSE, 0, 512, file, 0, 0, NULL, &read));
        OK(write_file(in_order, buffer, CL_FALSE, 0, 512, file, 0, 0, NULL, &write));
        SAME(ended(read), i == 0 || i == 2 ? CL_COMPLETE : CL_INVALID_OPERATION);
        SAME(ended(write), i == 1 || i == 2 ? CL_COMPLETE : CL_INVALID_OPERATION);
        OK(release_file(file));
    }
    OK(clReleaseMemObject(buffer));
}

// SPDX-License-Identifier: Apache-2.0
#include "check.h"

typedef __typeof__(&clEnqueueMakeBuffersResidentAMD) resident_fn;
typedef __typeof__(&clEnqueueWaitSignalAMD) wait_fn;
typedef __typeof__(&clEnqueueCopyBufferP2PAMD) copy_fn;
void fake_device_write(unsigned long address, const void *bytes, unsigned long size);

enum { PAGE = 4096, MIB = 1 << 20 };

TEST(persistent_memory_beyond_the_heap_is_any_memory_and_nobody_says_so) {
    fake_set("persistent_heap", 3 * MIB);
    cl_mem first = buffer_of(MEM_PERSISTENT, 2 * MIB), second = buffer_of(MEM_PERSISTENT, 2 * MIB);
    cl_mem_flags flags;
    SAME(fake_live("persistent_bytes"), 2 * MIB);
    SAME(fake_live("fallbacks"), 1);
    OK(clGetMemObjectInfo(second, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
    CHECK(flags & MEM_PERSISTENT);
    OK(clReleaseMemObject(first));
    cl_mem third = buffer_of(MEM_PERSISTENT, 3 * MIB);
    SAME(fake_live("persistent_bytes"), 3 * MIB);
    SAME(fake_live("fallbacks"), 1);
    OK(clReleaseMemObject(second));
    OK(clReleaseMemObject(third));
    SAME(fake_refusals(), 0);
}

TEST(persistent_memory_is_not_the_hosts) {
    static char memory[PAGE];
    cl_int code;
    CHECK(!clCreateBuffer(context, MEM_PERSISTENT | CL_MEM_ALLOC_HOST_PTR, PAGE, NULL, &code));
    SAME(code, CL_INVALID_VALUE);
    CHECK(!clCreateBuffer(context, MEM_PERSISTENT | CL_MEM_USE_HOST_PTR, PAGE, memory, &code));
    SAME(code, CL_INVALID_VALUE);
}

TEST(persistent_memory_wants_to_be_touched_by_the_device_first) {
    cl_file_amd file = opened(CL_FILE_READ_ONLY_AMD);
    cl_mem cold = buffer_of(MEM_PERSISTENT, PAGE), warm = buffer_of(MEM_PERSISTENT, PAGE);
    OK(read_file(in_order, cold, CL_TRUE, 0, 512, file, 0, 0, NULL, NULL));
    complained("has not touched before");
    SAME(fake_live("unreferenced"), 1);
    OK(read_file(in_order, cold, CL_TRUE, 0, 512, file, 0, 0, NULL, NULL));
    OK(clEnqueueFillBuffer(in_order, warm, "", 1, 0, PAGE, 0, NULL, NULL));
    OK(read_file(in_order, warm, CL_TRUE, 0, 512, file, 0, 0, NULL, NULL));
    SAME(fake_live("unreferenced"), 1);
    OK(clReleaseMemObject(cold));
    OK(clReleaseMemObject(warm));
    OK(release_file(file));
}

TEST(the_heap_of_the_bus_is_full_when_buffers_become_resident_or_when_they_are_made) {
    resident_fn make_resident = (resident_fn)(uintptr_t)clGetExtensionFunctionAddressForPlatform(
            platform, "clEnqueueMakeBuffersResidentAMD");
    cl_bus_address_amd addresses[3];
    fake_set("gma_heap", 2 * MIB);
    cl_mem buffers[3];
    for (int i = 0; i < 3; i++) buffers[i] = buffer_of(MEM_BUS_ADDRESSABLE, MIB);
    SAME(make_resident(in_order, 3, buffers, CL_TRUE, addresses, 0, NULL, NULL), CL_OUT_OF_RESOURCES);
    refused("heap");
    cl_event event;
    OK(make_resident(in_order, 2, buffers, CL_FALSE, addresses, 0, NULL, &event));
    OK(ended(event));
    CHECK(addresses[0].surface_bus_address != addresses[1].surface_bus_address);
    for (int i = 0; i < 3; i++) OK(clReleaseMemObject(buffers[i]));
    fake_set("gma_eager", 1);
    cl_int code;
    CHECK(!clCreateBuffer(context, MEM_BUS_ADDRESSABLE, 3 * MIB, NULL, &code));
    SAME(code, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    cl_mem fits = buffer_of(MEM_BUS_ADDRESSABLE, 2 * MIB);
    OK(clReleaseMemObject(fits));
}

TEST(a_device_that_writes_where_nothing_is_is_noticed) {
    char byte = 1;
    fake_device_write(0x123000, &byte, 1);
    SAME(fake_await_live("device_operations", 0, 10000), 0);
    complained("where nothing is");
}

TEST(a_wait_for_a_buffer_that_no_device_can_know_is_noticed) {
    wait_fn wait = (wait_fn)(uintptr_t)clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueWaitSignalAMD");
    cl_mem buffer = buffer_of(MEM_BUS_ADDRESSABLE, PAGE);
    OK(wait(in_order, buffer, 0, 0, NULL, NULL));
    complained("not resident");
    OK(clFinish(in_order));
    OK(clReleaseMemObject(buffer));
}

TEST(devices_copy_to_each_other_where_they_can) {
    CHECK(!clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueCopyBufferP2PAMD"));
    fake_set("p2p", 1);
    copy_fn copy = (copy_fn)(uintptr_t)clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueCopyBufferP2PAMD");
    cl_int code;
    cl_uint peers = 0;
    OK(clGetDeviceInfo(device, CL_DEVICE_NUM_P2P_DEVICES_AMD, sizeof peers, &peers, NULL));
    SAME(peers, 1);
    cl_context other = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    cl_event theirs = clCreateUserEvent(other, &code), event;
    char bytes[PAGE] = "from there", seen[16];
    cl_mem from = clCreateBuffer(other, CL_MEM_COPY_HOST_PTR, PAGE, bytes, &code), to = buffer_of(0, PAGE);
    OK(copy(in_order, from, to, 0, 512, 1024, 1, &theirs, &event));
    OK(clSetUserEventStatus(theirs, CL_COMPLETE));
    OK(ended(event));
    bytes_of(to, 512, 11, (unsigned char *)seen);
    CHECK(!strcmp(seen, "from there"));
    SAME(copy(in_order, from, from, 0, 0, 1, 0, NULL, NULL), CL_INVALID_CONTEXT);
    SAME(copy(in_order, from, to, 0, PAGE, 1, 0, NULL, NULL), CL_INVALID_VALUE);
    SAME(copy(in_order, to, to, 0, 512, 1024, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    SAME(copy(in_order, NULL, to, 0, 512, 1024, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    OK(clReleaseEvent(theirs));
    OK(clReleaseMemObject(from));
    OK(clReleaseMemObject(to));
    OK(clReleaseContext(other));
}

// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "check.h"

#include <unistd.h>

typedef __typeof__(&clEnqueueMakeBuffersResidentAMD) resident_fn;
typedef __typeof__(&clEnqueueWaitSignalAMD) wait_fn;
typedef __typeof__(&clEnqueueWriteSignalAMD) write_fn;

void fake_device_write(unsigned long address, const void *bytes, unsigned long size);
void fake_device_signal(unsigned long address, unsigned value);
unsigned long fake_device_memory(unsigned long size);
int fake_device_look(unsigned long address, void *to, unsigned long size);

static resident_fn make_resident;
static wait_fn wait_signal;
static write_fn write_signal;
static const char DEVICE[] = "device";
enum { PAGE = 4096, SIZE = 2 * PAGE };

static void find(void) {
    make_resident = (resident_fn)(uintptr_t)clGetExtensionFunctionAddressForPlatform(
            platform, "clEnqueueMakeBuffersResidentAMD");
    wait_signal = (wait_fn)(uintptr_t)clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueWaitSignalAMD");
    write_signal = (write_fn)(uintptr_t)clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueWriteSignalAMD");
    CHECK(make_resident && wait_signal && write_signal);
}

static cl_mem on_bus(cl_bus_address_amd *address) {
    find();
    cl_mem buffer = buffer_of(MEM_BUS_ADDRESSABLE, SIZE - 100);
    memset(address, 1, sizeof *address);
    OK(make_resident(in_order, 1, &buffer, CL_TRUE, address, 0, NULL, NULL));
    CHECK(address->surface_bus_address && address->surface_bus_address % PAGE == 0);
    CHECK(address->marker_bus_address && address->marker_bus_address % PAGE == 0);
    return buffer;
}

TEST(a_device_writes_data_and_then_the_marker_and_a_kernel_behind_it_sees_both) {
    cl_bus_address_amd address;
    cl_mem buffer = on_bus(&address);
    char data[5000];
    unsigned char seen[5000];
    memset(data, 0x42, sizeof data);
    cl_event event, other;
    OK(wait_signal(out_of_order, buffer, 3, 0, NULL, &event));
    fake_hold(DEVICE);
    fake_device_write(address.surface_bus_address + 10, data, sizeof data);
    fake_device_signal(address.marker_bus_address, 2);
    fake_device_signal(address.marker_bus_address, 5);
    SAME(fake_await_held(DEVICE, 1, 10000), 1);
    usleep(10000);
    SAME(status_of(event), CL_QUEUED);
    fake_release(DEVICE);
    OK(ended(event));
    bytes_of(buffer, 10, sizeof data, seen);
    CHECK(!memcmp(data, seen, sizeof data));
    OK(wait_signal(out_of_order, buffer, 5, 0, NULL, &other));
    OK(ended(other));
    OK(clReleaseMemObject(buffer));
}

TEST(in_an_in_order_queue_everything_stands_behind_a_wait) {
    cl_bus_address_amd address;
    cl_mem buffer = on_bus(&address);
    cl_event wait, fill;
    cl_command_type type;
    OK(wait_signal(in_order, buffer, 1, 0, NULL, &wait));
    OK(clGetEventInfo(wait, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    SAME(type, CL_COMMAND_WAIT_SIGNAL_AMD);
    OK(clEnqueueFillBuffer(in_order, buffer, "", 1, 0, 1, 0, NULL, &fill));
    OK(clFlush(in_order));
    usleep(10000);
    CHECK(status_of(fill) > CL_COMPLETE);
    fake_device_signal(address.marker_bus_address, 1);
    OK(ended(fill));
    OK(ended(wait));
    OK(clReleaseMemObject(buffer));
}

TEST(a_kernel_writes_to_a_device_and_signals_it) {
    find();
    unsigned long memory = fake_device_memory(SIZE + PAGE);
    cl_bus_address_amd address = {memory, memory + SIZE};
    cl_int code;
    cl_mem remote = clCreateBuffer(context, MEM_EXTERNAL_PHYSICAL, SIZE, &address, &code);
    OK(code);
    cl_mem_flags flags;
    void *host = &code;
    OK(clGetMemObjectInfo(remote, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
    SAME(flags, MEM_EXTERNAL_PHYSICAL | CL_MEM_WRITE_ONLY);
    OK(clGetMemObjectInfo(remote, CL_MEM_HOST_PTR, sizeof host, &host, NULL));
    CHECK(!host);
    unsigned char pattern = 0x99, seen;
    cl_event fill, event;
    unsigned marker;
    OK(clEnqueueFillBuffer(in_order, remote, &pattern, 1, 0, SIZE, 0, NULL, &fill));
    OK(write_signal(out_of_order, remote, 7, 8, 1, &fill, &event));
    OK(ended(event));
    OK(ended(fill));
    SAME(fake_device_look(memory + SIZE + 8, &marker, 4), 0);
    SAME(marker, 7);
    SAME(fake_device_look(memory + SIZE - 1, &seen, 1), 0);
    SAME(seen, pattern);
    /* The runtime sends it all the same; who waits for 8 would never know. */
    OK(write_signal(in_order, remote, 7, 8, 0, NULL, NULL));
    OK(clFinish(in_order));
    complained("does not rise");
    OK(write_signal(in_order, remote, 8, SIZE, 0, NULL, NULL));
    OK(clFinish(in_order));
    complained("no device answers for a marker");
    SAME(write_signal(in_order, remote, 8, SIZE + PAGE - 3, 0, NULL, NULL), CL_INVALID_BUFFER_SIZE);
    OK(clReleaseMemObject(remote));
}

TEST(one_context_writes_to_the_buffer_of_another) {
    cl_bus_address_amd address;
    cl_mem buffer = on_bus(&address);
    cl_int code;
    cl_context other = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    cl_command_queue queue = clCreateCommandQueueWithProperties(other, device, NULL, &code);
    cl_mem remote = clCreateBuffer(other, MEM_EXTERNAL_PHYSICAL | CL_MEM_WRITE_ONLY, SIZE, &address, &code);
    OK(code);
    cl_event event;
    unsigned char pattern = 0x31, seen;
    OK(wait_signal(in_order, buffer, 1, 0, NULL, &event));
    OK(clEnqueueFillBuffer(queue, remote, &pattern, 1, 0, SIZE, 0, NULL, NULL));
    OK(write_signal(queue, remote, 1, 0, 0, NULL, NULL));
    OK(ended(event));
    bytes_of(buffer, SIZE - 1, 1, &seen);
    SAME(seen, pattern);
    OK(clEnqueueReadBuffer(queue, remote, CL_TRUE, 0, 1, &seen, 0, NULL, NULL));
    complained("only written to");
    OK(clReleaseMemObject(buffer));
    complained("let go while others write to it");
    OK(clReleaseMemObject(remote));
    OK(clReleaseCommandQueue(queue));
    OK(clReleaseContext(other));
}

TEST(sizes_are_whole_pages_and_there_are_no_parts) {
    cl_bus_address_amd address;
    cl_mem buffer = on_bus(&address);
    cl_mem_flags flags;
    size_t size;
    cl_int code;
    cl_buffer_region region = {0, PAGE};
    OK(clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, NULL));
    SAME(size, SIZE);
    OK(clGetMemObjectInfo(buffer, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
    CHECK(flags & MEM_BUS_ADDRESSABLE && !(flags & CL_MEM_USE_HOST_PTR));
    CHECK(!clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    SAME(code, CL_INVALID_VALUE);
    OK(clReleaseMemObject(buffer));
    char bytes[100] = "copied";
    buffer = clCreateBuffer(context, MEM_BUS_ADDRESSABLE | CL_MEM_COPY_HOST_PTR, sizeof bytes, bytes, &code);
    OK(code);
    bytes_of(buffer, 0, 7, (unsigned char *)bytes + 10);
    CHECK(!strcmp(bytes + 10, "copied"));
    OK(clReleaseMemObject(buffer));
}

TEST(memory_on_the_bus_has_flags_and_addresses_of_its_own) {
    static char host[PAGE];
    static cl_bus_address_amd good = {PAGE, PAGE};
    cl_bus_address_amd bad[] = {{0, PAGE}, {PAGE + 1, PAGE}, {PAGE, 0}, {PAGE, PAGE + 512}};
    const cl_mem_flags out = MEM_EXTERNAL_PHYSICAL, in = MEM_BUS_ADDRESSABLE;
    const struct {
        cl_mem_flags flags;
        size_t size;
        void *host;
        cl_int code;
    } wrong[] = {
            {in | CL_MEM_USE_HOST_PTR, PAGE, host, CL_INVALID_VALUE},
            {in | CL_MEM_ALLOC_HOST_PTR, PAGE, NULL, CL_INVALID_VALUE},
            {in, 0, NULL, CL_INVALID_BUFFER_SIZE},
            {in, PAGE, host, CL_INVALID_HOST_PTR},
            {in | CL_MEM_COPY_HOST_PTR, PAGE, NULL, CL_INVALID_HOST_PTR},
            {in | MEM_PERSISTENT, PAGE, NULL, CL_INVALID_VALUE},
            {out | CL_MEM_READ_WRITE, PAGE, &good, CL_INVALID_VALUE},
            {out | CL_MEM_READ_ONLY, PAGE, &good, CL_INVALID_VALUE},
            {out | CL_MEM_USE_HOST_PTR, PAGE, &good, CL_INVALID_VALUE},
            {out | CL_MEM_COPY_HOST_PTR, PAGE, &good, CL_INVALID_VALUE},
            {out, PAGE, NULL, CL_INVALID_HOST_PTR},
            {out, 0, &good, CL_INVALID_BUFFER_SIZE},
            {out, PAGE, &bad[0], CL_INVALID_HOST_PTR},
            {out, PAGE, &bad[1], CL_INVALID_HOST_PTR},
            {out, PAGE, &bad[2], CL_INVALID_HOST_PTR},
            {out, PAGE, &bad[3], CL_INVALID_HOST_PTR},
            {out | MEM_PERSISTENT, PAGE, &good, CL_INVALID_VALUE},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cl_int code = 0;
        CHECK(!clCreateBuffer(context, wrong[i].flags, wrong[i].size, wrong[i].host, &code));
        SAME(code, wrong[i].code);
    }
    cl_int code;
    cl_mem astray = clCreateBuffer(context, out, PAGE, &good, &code);
    OK(code);
    complained("no device answers");
    OK(clReleaseMemObject(astray));
}

TEST(calls_on_the_bus_are_checked_in_the_order_of_the_runtime) {
    cl_bus_address_amd address, filled = {1, 1};
    cl_mem buffer = on_bus(&address), plain = buffer_of(0, PAGE);
    cl_int code;
    cl_context other = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    cl_mem foreign = clCreateBuffer(other, MEM_BUS_ADDRESSABLE, PAGE, NULL, &code);
    cl_event user = clCreateUserEvent(context, &code);
    cl_command_queue none = (cl_command_queue)buffer;
    SAME(wait_signal(none, plain, 1, 1, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    SAME(wait_signal(in_order, NULL, 1, 1, NULL, NULL), CL_INVALID_MEM_OBJECT);
    SAME(wait_signal(in_order, plain, 1, 1, NULL, NULL), CL_INVALID_MEM_OBJECT);
    SAME(wait_signal(in_order, foreign, 1, 1, NULL, NULL), CL_INVALID_CONTEXT);
    SAME(wait_signal(in_order, buffer, 1, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
    SAME(write_signal(in_order, buffer, 1, 0, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    SAME(make_resident(none, 0, NULL, CL_TRUE, NULL, 1, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    SAME(make_resident(in_order, 0, NULL, CL_TRUE, NULL, 1, NULL, NULL), CL_INVALID_MEM_OBJECT);
    SAME(make_resident(in_order, 0, &plain, CL_TRUE, &filled, 1, NULL, NULL), CL_INVALID_VALUE);
    SAME(make_resident(in_order, 1, &plain, CL_TRUE, NULL, 1, NULL, NULL), CL_INVALID_VALUE);
    SAME(make_resident(in_order, 1, &plain, CL_TRUE, &filled, 1, NULL, NULL), CL_INVALID_MEM_OBJECT);
    SAME(filled.surface_bus_address, 0);
    SAME(make_resident(in_order, 1, &foreign, CL_TRUE, &filled, 1, NULL, NULL), CL_INVALID_CONTEXT);
    SAME(make_resident(in_order, 1, &buffer, CL_TRUE, &filled, 0, &user, NULL), CL_INVALID_EVENT_WAIT_LIST);
    OK(clReleaseEvent(user));
    OK(clReleaseMemObject(foreign));
    OK(clReleaseContext(other));
    OK(clReleaseMemObject(plain));
    OK(clReleaseMemObject(buffer));
}

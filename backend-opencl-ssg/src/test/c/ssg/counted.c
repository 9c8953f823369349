// SPDX-License-Identifier: Apache-2.0
/* Contexts, queues, images and events from birth to end. What the application does not hold is refused here. */
#include <stdlib.h>

#include "ssg.h"

static cl_context context_born(cl_context context) {
    if (!context) return NULL;
    LOCK();
    object_new(CONTEXTS, context, sizeof(struct context));
    UNLOCK();
    return context;
}

static int refused(const char *name, cl_int *result) {
    struct answer ordered;
    if (!called(name, &ordered)) return 0;
    if (result) *result = (cl_int)ordered.code;
    return 1;
}

typedef void(CL_CALLBACK *notify_fn)(const char *, const void *, size_t, void *);

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint count,
                                             const cl_device_id *devices, notify_fn notify, void *with,
                                             cl_int *result) {
    if (refused("clCreateContext", result)) return NULL;
    return context_born(below.clCreateContext(properties, count, devices, notify, with, result));
}

static cl_context CL_API_CALL create_context_from_type(
        const cl_context_properties *properties, cl_device_type type, notify_fn notify, void *with, cl_int *result) {
    if (refused("clCreateContextFromType", result)) return NULL;
    return context_born(below.clCreateContextFromType(properties, type, notify, with, result));
}

static cl_int CL_API_CALL retain_context(cl_context context) {
    ORDERED_AS("clRetainContext");
    if (object_retain(CONTEXTS, context, "clRetainContext")) return CL_INVALID_CONTEXT;
    return below.clRetainContext(context);
}

static cl_int CL_API_CALL release_context(cl_context context) {
    ORDERED_AS("clReleaseContext");
    if (object_release(CONTEXTS, context, "clReleaseContext")) return CL_INVALID_CONTEXT;
    return below.clReleaseContext(context);
}

static void queue_ends(struct object *object) {
    struct queue *queue = (struct queue *)object;
    if (queue->barrier) below.clReleaseEvent(queue->barrier);
    if (queue->inner) below.clReleaseCommandQueue(queue->inner);
    unpin(queue->context);
}

static cl_command_queue queue_born(cl_command_queue made, cl_context context, cl_device_id device) {
    if (!made) return NULL;
    cl_command_queue_properties properties = 0;
    below.clGetCommandQueueInfo(made, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    LOCK();
    struct context *of = object_get(CONTEXTS, context);
    if (of) {
        struct queue *queue = object_new(QUEUES, made, sizeof *queue);
        queue->context = of;
        queue->device = device;
        queue->ordered = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
        queue->object.end = queue_ends;
        pin(of);
    }
    UNLOCK();
    if (!of) complain("a queue is made of a context that the application does not hold");
    return made;
}

static cl_command_queue CL_API_CALL create_queue(
        cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int *result) {
    if (refused("clCreateCommandQueue", result)) return NULL;
    return queue_born(below.clCreateCommandQueue(context, device, properties, result), context, device);
}

static cl_command_queue CL_API_CALL create_queue_with(
        cl_context context, cl_device_id device, const cl_queue_properties *properties, cl_int *result) {
    if (refused("clCreateCommandQueueWithProperties", result)) return NULL;
    return queue_born(below.clCreateCommandQueueWithProperties(context, device, properties, result), context, device);
}

static cl_int CL_API_CALL retain_queue(cl_command_queue queue) {
    ORDERED_AS("clRetainCommandQueue");
    if (object_retain(QUEUES, queue, "clRetainCommandQueue")) return CL_INVALID_COMMAND_QUEUE;
    return below.clRetainCommandQueue(queue);
}

static cl_int CL_API_CALL release_queue(cl_command_queue queue) {
    ORDERED_AS("clReleaseCommandQueue");
    flush_queue(queue);
    if (object_release(QUEUES, queue, "clReleaseCommandQueue")) return CL_INVALID_COMMAND_QUEUE;
    return below.clReleaseCommandQueue(queue);
}

static cl_mem image_born(cl_mem image) {
    if (!image) return NULL;
    LOCK();
    object_new(IMAGES, image, sizeof(struct object));
    UNLOCK();
    return image;
}

static cl_mem CL_API_CALL create_image(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                                       const cl_image_desc *description, void *host, cl_int *result) {
    if (refused("clCreateImage", result)) return NULL;
    return image_born(below.clCreateImage(context, flags, format, description, host, result));
}

static cl_mem CL_API_CALL create_image_with(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
                                            const cl_image_format *format, const cl_image_desc *description,
                                            void *host, cl_int *result) {
    if (refused("clCreateImageWithProperties", result)) return NULL;
    return image_born(below.clCreateImageWithProperties(context, properties, flags, format, description, host, result));
}

static cl_mem CL_API_CALL create_image_2d(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                                          size_t width, size_t height, size_t pitch, void *host, cl_int *result) {
    if (refused("clCreateImage2D", result)) return NULL;
    return image_born(below.clCreateImage2D(context, flags, format, width, height, pitch, host, result));
}

static cl_mem CL_API_CALL create_image_3d(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                                          size_t width, size_t height, size_t depth, size_t pitch, size_t slice,
                                          void *host, cl_int *result) {
    if (refused("clCreateImage3D", result)) return NULL;
    return image_born(below.clCreateImage3D(context, flags, format, width, height, depth, pitch, slice, host, result));
}

static enum kind memory_kind(cl_mem memory) {
    LOCK();
    enum kind kind = object_get(IMAGES, memory) ? IMAGES : BUFFERS;
    UNLOCK();
    return kind;
}

static cl_int CL_API_CALL retain_memory(cl_mem memory) {
    ORDERED_AS("clRetainMemObject");
    if (object_retain(memory_kind(memory), memory, "clRetainMemObject")) return CL_INVALID_MEM_OBJECT;
    return below.clRetainMemObject(memory);
}

static cl_int CL_API_CALL release_memory(cl_mem memory) {
    ORDERED_AS("clReleaseMemObject");
    if (object_release(memory_kind(memory), memory, "clReleaseMemObject")) return CL_INVALID_MEM_OBJECT;
    return below.clReleaseMemObject(memory);
}

void counted_dispatch(void) {
    layer.clCreateContext = create_context;
    layer.clCreateContextFromType = create_context_from_type;
    layer.clRetainContext = retain_context;
    layer.clReleaseContext = release_context;
    layer.clCreateCommandQueue = create_queue;
    layer.clCreateCommandQueueWithProperties = create_queue_with;
    layer.clRetainCommandQueue = retain_queue;
    layer.clReleaseCommandQueue = release_queue;
    layer.clCreateImage = create_image;
    layer.clCreateImageWithProperties = create_image_with;
    layer.clCreateImage2D = create_image_2d;
    layer.clCreateImage3D = create_image_3d;
    layer.clRetainMemObject = retain_memory;
    layer.clReleaseMemObject = release_memory;
}

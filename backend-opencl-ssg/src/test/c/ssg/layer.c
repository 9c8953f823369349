// SPDX-License-Identifier: Apache-2.0
/* The door: what the loader asks a layer, the names of extensions, and the functions that only they have. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ssg.h"
/* After ssg.h, which says what version of OpenCL is meant. */
#include <CL/cl_layer.h>

cl_icd_dispatch below, layer;

cl_int give(const void *value, size_t size, size_t room, void *to, size_t *needed) {
    if (to && room < size) return CL_INVALID_VALUE;
    if (to) memcpy(to, value, size);
    if (needed) *needed = size;
    return CL_SUCCESS;
}

EXPORT cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t room, void *to, size_t *needed) {
    static const char name[] = "Penstock's fake of an SSG";
    cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    if (what == CL_LAYER_API_VERSION) return give(&version, sizeof version, room, to, needed);
    if (what == CL_LAYER_NAME) return give(name, sizeof name, room, to, needed);
    return CL_INVALID_VALUE;
}

static void extensions(char *names, size_t room) {
    names[0] = 0;
    if (!property("armed", 0)) return;
    snprintf(names, room, "%s%s%s", property("extension", 1) ? " cl_amd_liquid_flash" : "",
             property("gma", 1) ? " cl_amd_bus_addressable_memory" : "",
             property("p2p", 0) ? " cl_amd_copy_buffer_p2p" : "");
}

/* The strings are NAME of the library below, and what the fake adds. */
static cl_int longer(cl_int result, char *text, size_t room, void *to, size_t *needed) {
    if (!result) {
        char more[128];
        extensions(more, sizeof more);
        size_t length = strlen(text);
        while (length && text[length - 1] == ' ') text[--length] = 0;
        strcat(text, more);
        result = give(text, strlen(text) + 1, room, to, needed);
    }
    free(text);
    return result;
}

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t room, void *to, size_t *needed) {
    ORDERED_AS("clGetDeviceInfo");
    if (property("p2p", 0) && property("armed", 0)) {
        /* The only device there is plays both. */
        cl_uint one = 1;
        if (what == CL_DEVICE_NUM_P2P_DEVICES_AMD) return give(&one, sizeof one, room, to, needed);
        if (what == CL_DEVICE_P2P_DEVICES_AMD) return give(&device, sizeof device, room, to, needed);
    }
    if (what != CL_DEVICE_EXTENSIONS) return below.clGetDeviceInfo(device, what, room, to, needed);
    size_t size = 0;
    cl_int result = below.clGetDeviceInfo(device, what, 0, NULL, &size);
    char *text = calloc(1, size + 128);
    if (!result) result = below.clGetDeviceInfo(device, what, size, text, NULL);
    return longer(result, text, room, to, needed);
}

static cl_int CL_API_CALL platform_info(
        cl_platform_id platform, cl_platform_info what, size_t room, void *to, size_t *needed) {
    ORDERED_AS("clGetPlatformInfo");
    if (what != CL_PLATFORM_EXTENSIONS) return below.clGetPlatformInfo(platform, what, room, to, needed);
    size_t size = 0;
    cl_int result = below.clGetPlatformInfo(platform, what, 0, NULL, &size);
    char *text = calloc(1, size + 128);
    if (!result) result = below.clGetPlatformInfo(platform, what, size, text, NULL);
    return longer(result, text, room, to, needed);
}

static void *function_of_ours(const char *name) {
    static const struct {
        const char *name;
        const char *switched_by;
        long unless;
        void *function;
    } ours[] = {
        {"clCreateSsgFileObjectAMD", "functions", 1, clCreateSsgFileObjectAMD},
        {"clGetSsgFileObjectInfoAMD", "functions", 1, clGetSsgFileObjectInfoAMD},
        {"clRetainSsgFileObjectAMD", "functions", 1, clRetainSsgFileObjectAMD},
        {"clReleaseSsgFileObjectAMD", "functions", 1, clReleaseSsgFileObjectAMD},
        {"clEnqueueReadSsgFileAMD", "functions", 1, clEnqueueReadSsgFileAMD},
        {"clEnqueueWriteSsgFileAMD", "functions", 1, clEnqueueWriteSsgFileAMD},
        {"clEnqueueWaitSignalAMD", "gma", 1, clEnqueueWaitSignalAMD},
        {"clEnqueueWriteSignalAMD", "gma", 1, clEnqueueWriteSignalAMD},
        {"clEnqueueMakeBuffersResidentAMD", "gma", 1, clEnqueueMakeBuffersResidentAMD},
        {"clEnqueueCopyBufferP2PAMD", "p2p", 0, clEnqueueCopyBufferP2PAMD},
    };
    if (!name || !property("armed", 0)) return NULL;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (!strcmp(name, ours[i].name))
            return property(ours[i].switched_by, ours[i].unless) ? ours[i].function : NULL;
    return NULL;
}

static void *CL_API_CALL function_for_platform(cl_platform_id platform, const char *name) {
    struct answer ordered;
    if (called("clGetExtensionFunctionAddressForPlatform", &ordered)) return NULL;
    void *ours = function_of_ours(name);
    return ours ? ours : below.clGetExtensionFunctionAddressForPlatform(platform, name);
}

static void *CL_API_CALL function_for_any(const char *name) {
    void *ours = function_of_ours(name);
    return ours ? ours : below.clGetExtensionFunctionAddress(name);
}

EXPORT cl_int CL_API_CALL clInitLayer(
        cl_uint count, const cl_icd_dispatch *target, cl_uint *count_of_ours, const cl_icd_dispatch **ours) {
    size_t size = count * sizeof(void *);
    memcpy(&below, target, size < sizeof below ? size : sizeof below);
    /* What is null here the loader takes from below. */
    layer.clGetDeviceInfo = device_info;
    layer.clGetPlatformInfo = platform_info;
    layer.clGetExtensionFunctionAddressForPlatform = function_for_platform;
    layer.clGetExtensionFunctionAddress = function_for_any;
    counted_dispatch();
    enqueued_dispatch();
    buffer_dispatch();
    event_dispatch();
    settings_read();
    *count_of_ours = sizeof layer / sizeof(void *);
    *ours = &layer;
    return CL_SUCCESS;
}

void reset_library(void) {
    device_reset();
    flush_reset();
    commands_reset();
    registry_reset();
    heap_reset();
    bus_reset();
    journal_reset();
}

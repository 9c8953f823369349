// SPDX-License-Identifier: Apache-2.0
/* Names and numbers of AMD's extensions that the Khronos headers do not have. */
#ifndef PENSTOCK_AMD_H
#define PENSTOCK_AMD_H

#include <CL/cl.h>
#include <wchar.h>

typedef struct _cl_file_amd *cl_file_amd;
typedef cl_uint cl_file_flags_amd, cl_file_info_amd;

#define CL_COMMAND_WAIT_SIGNAL_AMD 0x4080
#define CL_COMMAND_WRITE_SIGNAL_AMD 0x4081
#define CL_COMMAND_MAKE_BUFFERS_RESIDENT_AMD 0x4082
#define CL_COMMAND_READ_SSG_FILE_AMD 0x4083
#define CL_INVALID_FILE_OBJECT_AMD 0x4084
#define CL_FILE_BLOCK_SIZE_AMD 0x4085
#define CL_FILE_SIZE_AMD 0x4086
#define CL_COMMAND_WRITE_SSG_FILE_AMD 0x4087

#define CL_DEVICE_NUM_P2P_DEVICES_AMD 0x4088
#define CL_DEVICE_P2P_DEVICES_AMD 0x4089

#define CL_FILE_READ_ONLY_AMD (1 << 0)
#define CL_FILE_WRITE_ONLY_AMD (1 << 1)
#define CL_FILE_READ_WRITE_AMD (1 << 2)

#define MEM_PERSISTENT ((cl_mem_flags)1 << 6)
#define MEM_BUS_ADDRESSABLE ((cl_mem_flags)1 << 30)
#define MEM_EXTERNAL_PHYSICAL ((cl_mem_flags)1 << 31)
#define MEM_AMD (MEM_PERSISTENT | MEM_BUS_ADDRESSABLE | MEM_EXTERNAL_PHYSICAL)

typedef struct {
    cl_ulong surface_bus_address, marker_bus_address;
} cl_bus_address_amd;

cl_file_amd clCreateSsgFileObjectAMD(
        cl_context context, cl_file_flags_amd flags, const wchar_t *file_name, cl_int *errcode_ret);
cl_int clGetSsgFileObjectInfoAMD(cl_file_amd file, cl_file_info_amd param_name, size_t param_value_size,
                                 void *param_value, size_t *param_value_size_ret);
cl_int clRetainSsgFileObjectAMD(cl_file_amd file);
cl_int clReleaseSsgFileObjectAMD(cl_file_amd file);
cl_int clEnqueueReadSsgFileAMD(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t buffer_offset,
                               size_t size, cl_file_amd file, size_t file_offset, cl_uint count, const cl_event *list,
                               cl_event *event);
cl_int clEnqueueWriteSsgFileAMD(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t buffer_offset,
                                size_t size, cl_file_amd file, size_t file_offset, cl_uint count, const cl_event *list,
                                cl_event *event);

cl_int clEnqueueWaitSignalAMD(
        cl_command_queue queue, cl_mem memory, cl_uint value, cl_uint count, const cl_event *list, cl_event *event);
cl_int clEnqueueWriteSignalAMD(cl_command_queue queue, cl_mem memory, cl_uint value, cl_ulong offset, cl_uint count,
                               const cl_event *list, cl_event *event);
cl_int clEnqueueMakeBuffersResidentAMD(cl_command_queue queue, cl_uint count_of_buffers, cl_mem *memory,
                                       cl_bool blocking, cl_bus_address_amd *addresses, cl_uint count,
                                       const cl_event *list, cl_event *event);
cl_int clEnqueueCopyBufferP2PAMD(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
                                 size_t size, cl_uint count, const cl_event *list, cl_event *event);

#endif

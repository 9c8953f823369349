// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "check.h"

TEST(functions_are_found_and_the_strings_name_the_extension) {
    char text[16384];
    OK(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof text, text, NULL));
    CHECK(strstr(text, "cl_amd_liquid_flash"));
    OK(clGetPlatformInfo(platform, CL_PLATFORM_EXTENSIONS, sizeof text, text, NULL));
    CHECK(strstr(text, "cl_amd_liquid_flash"));
    CHECK(create_file && file_info && retain_file && release_file && read_file && write_file);
    CHECK(!clGetExtensionFunctionAddressForPlatform(platform, "clNoSuchFunctionAMD"));
}

TEST(unarmed_there_is_nothing) {
    char text[16384];
    fake_set("armed", 0);
    OK(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof text, text, NULL));
    CHECK(!strstr(text, "cl_amd_liquid_flash"));
    CHECK(!clGetExtensionFunctionAddressForPlatform(platform, "clCreateSsgFileObjectAMD"));
}

TEST(the_string_lies_either_way) {
    char text[16384];
    cl_int code = 0;
    fake_set("ssg_device", 0);
    OK(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof text, text, NULL));
    CHECK(strstr(text, "cl_amd_liquid_flash"));
    CHECK(!create_file(context, CL_FILE_READ_ONLY_AMD, fresh_file(), &code));
    SAME(code, CL_INVALID_DEVICE);
    fake_set("ssg_device", 1);
    fake_set("extension", 0);
    OK(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof text, text, NULL));
    CHECK(!strstr(text, "cl_amd_liquid_flash"));
    OK(release_file(opened(CL_FILE_READ_ONLY_AMD)));
    fake_set("extension", 1);
    fake_set("functions", 0);
    CHECK(!clGetExtensionFunctionAddressForPlatform(platform, "clCreateSsgFileObjectAMD"));
}

TEST(a_file_tells_its_block_and_its_size_at_the_open) {
    fake_set("block_size", 4096);
    cl_file_amd file = opened(CL_FILE_READ_ONLY_AMD);
    cl_uint block = 0;
    cl_ulong size = 0;
    size_t needed = 0;
    OK(file_info(file, CL_FILE_BLOCK_SIZE_AMD, sizeof block, &block, &needed));
    SAME(block, 4096);
    SAME(needed, 4);
    FILE *longer = fopen(in_folder("data"), "ab");
    fputc(1, longer);
    fclose(longer);
    OK(file_info(file, CL_FILE_SIZE_AMD, sizeof size, &size, &needed));
    SAME(size, FILE_BYTES);
    SAME(needed, 8);
    OK(file_info(file, CL_FILE_SIZE_AMD, 0, NULL, &needed));
    SAME(file_info(file, CL_FILE_SIZE_AMD, 4, &size, NULL), CL_INVALID_VALUE);
    SAME(file_info(file, 0x4087, sizeof size, &size, NULL), CL_INVALID_VALUE);
    OK(release_file(file));
}

TEST(names_are_wide_characters_of_all_planes) {
    wchar_t wide[4096];
    size_t length = 0;
    for (const char *path = in_folder(""); path[length]; length++) wide[length] = (wchar_t)path[length];
    wcscpy(wide + length, L"h\u00f6hle-\u6df1-\U0001F30A");
    FILE *file = fopen(in_folder("h\xc3\xb6hle-\xe6\xb7\xb1-\xf0\x9f\x8c\x8a"), "wb");
    fclose(file);
    cl_int code = 1;
    cl_file_amd opened_file = create_file(context, CL_FILE_READ_ONLY_AMD, wide, &code);
    OK(code);
    OK(release_file(opened_file));
    remove(in_folder("h\xc3\xb6hle-\xe6\xb7\xb1-\xf0\x9f\x8c\x8a"));
    /* Half a character, as in UTF-16, is none. */
    wcscpy(wide + length, L"data");
    wide[length] = (wchar_t)0xD83C;
    CHECK(!create_file(context, CL_FILE_READ_ONLY_AMD, wide, &code));
    SAME(code, CL_INVALID_VALUE);
}

TEST(what_cannot_be_opened_is_refused) {
    cl_int code = 0;
    wchar_t wide[4096];
    CHECK(!create_file(NULL, CL_FILE_READ_ONLY_AMD, fresh_file(), &code));
    SAME(code, CL_INVALID_CONTEXT);
    CHECK(!create_file(context, CL_FILE_READ_ONLY_AMD, NULL, &code));
    SAME(code, CL_INVALID_VALUE);
    wcscpy(wide, fresh_file());
    wcscat(wide, L"-missing");
    CHECK(!create_file(context, CL_FILE_READ_ONLY_AMD, wide, &code));
    SAME(code, CL_INVALID_VALUE);
    refused("No such file");
    CHECK(!create_file(context, CL_FILE_WRITE_ONLY_AMD, wide, &code));
    SAME(code, CL_INVALID_VALUE);
    fake_set("manual_codes", 1);
    CHECK(!create_file(context, CL_FILE_READ_ONLY_AMD, wide, &code));
    SAME(code, CL_INVALID_FILE_OBJECT_AMD);
    fake_set("read_write", 0);
    CHECK(!create_file(context, CL_FILE_READ_WRITE_AMD, fresh_file(), &code));
    CHECK(!create_file(context, CL_FILE_READ_ONLY_AMD, wide, NULL));
    *wcsrchr(wide, L'/') = 0;
    CHECK(!create_file(context, CL_FILE_READ_ONLY_AMD, wide, &code));
}

TEST(files_are_counted) {
    cl_file_amd file = opened(CL_FILE_READ_ONLY_AMD);
    SAME(fake_live("files"), 1);
    OK(retain_file(file));
    SAME(fake_references(file), 2);
    OK(release_file(file));
    SAME(fake_references(file), 1);
    SAME(fake_live("files"), 1);
    OK(release_file(file));
    SAME(fake_live("files"), 0);
    SAME(fake_references(file), 0);
    SAME(release_file(file), CL_INVALID_FILE_OBJECT_AMD);
    complained("holds no such object");
    SAME(retain_file(file), CL_INVALID_FILE_OBJECT_AMD);
    complained("holds no such object");
    cl_ulong size;
    SAME(file_info(file, CL_FILE_SIZE_AMD, sizeof size, &size, NULL), CL_INVALID_FILE_OBJECT_AMD);
}

void fake_configure(const char *orders);

TEST(the_environment_can_give_orders_too) {
    fake_configure(" block_size=4096 fail:clRetainSsgFileObjectAMD=-5  delay:clEnqueueReadSsgFileAMD=1");
    cl_file_amd file = opened(CL_FILE_READ_ONLY_AMD);
    cl_uint block = 0;
    OK(file_info(file, CL_FILE_BLOCK_SIZE_AMD, sizeof block, &block, NULL));
    SAME(block, 4096);
    SAME(retain_file(file), -5);
    OK(release_file(file));
    fake_configure("armed");
    complained("armed is no order");
}

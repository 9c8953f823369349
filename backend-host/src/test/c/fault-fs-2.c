// SPDX-License-Identifier: Apache-2.0
/* The same file system by libfuse 2. */
#define FUSE_USE_VERSION 26
#include "fault-fs.c"

// SPDX-License-Identifier: Apache-2.0
/* Shuts down the ext4 that a folder is on, as a crash would: the journal is not flushed. shut-down-fs FOLDER */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>

#define EXT4_IOC_SHUTDOWN _IOR('X', 125, uint32_t) /* fs/ext4/ext4.h: not in the headers for programs */
#define EXT4_GOING_FLAGS_NOLOGFLUSH 2

int main(int count, char **words) {
    uint32_t flags = EXT4_GOING_FLAGS_NOLOGFLUSH;
    int folder = count == 2 ? open(words[1], O_RDONLY | O_DIRECTORY) : -1;
    if (folder < 0 || ioctl(folder, EXT4_IOC_SHUTDOWN, &flags)) {
        perror("EXT4_IOC_SHUTDOWN");
        return 1;
    }
    return 0;
}

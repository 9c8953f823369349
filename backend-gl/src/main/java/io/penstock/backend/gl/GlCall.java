// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.engine.spi.NativeFailure;

/** The calls that copies are made of; their failures are numbers that name call and answer. */
enum GlCall {
    ALLOCATE(1, "glBufferStorage"),
    MAP(2, "glMapBufferRange"),
    COPY(3, "glCopyBufferSubData"),
    FENCE(4, "glFenceSync"),
    WAIT(5, "glClientWaitSync"),
    RESET(6, "glGetGraphicsResetStatus"),
    DEVICE_WAIT(7, "glWaitSync"),
    SIZE(8, "glGetBufferParameteri64v"),
    CREATE_FILE(9, "glCreateFileAMD"),
    RELEASE_FILE(10, "glReleaseFileAMD"),
    FILE_PARAMETER(11, "glGetFileParameteri64vAMD"),
    READ_FILE(12, "glReadFileAMD"),
    WRITE_FILE(13, "glWriteFileAMD"),
    TEXTURE(14, "glTextureSubImage");

    private static final GlCall[] ALL = values();

    private final long number;
    private final String vendorName;

    GlCall(long number, String vendorName) {
        this.number = number;
        this.vendorName = vendorName;
    }

    String vendorName() {
        return vendorName;
    }

    /** Returns the negative number for {@link #failure}. */
    long failed(int code) {
        return -(number << Integer.SIZE | code);
    }

    /** Returns what a number of {@link #failed} means. */
    static NativeFailure failure(long failed) {
        long told = -failed;
        for (GlCall call : ALL) {
            if (call.number == told >>> Integer.SIZE) {
                return GlFailure.of(call.vendorName, (int) told);
            }
        }
        throw new IllegalArgumentException("no call of ours has failed with " + failed);
    }
}

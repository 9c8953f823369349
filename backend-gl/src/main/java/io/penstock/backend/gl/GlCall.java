// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.engine.spi.NativeFailure;

/** The calls that can fail within a transfer. */
enum GlCall {
    ALLOCATE("glBufferStorage"),
    MAP("glMapBufferRange"),
    COPY("glCopyBufferSubData"),
    FENCE("glFenceSync"),
    WAIT("glClientWaitSync"),
    RESET("glGetGraphicsResetStatus"),
    DEVICE_WAIT("glWaitSync"),
    SIZE("glGetBufferParameteri64v"),
    CREATE_FILE("glCreateFileAMD"),
    RELEASE_FILE("glReleaseFileAMD"),
    FILE_PARAMETER("glGetFileParameteri64vAMD"),
    READ_FILE("glReadFileAMD"),
    WRITE_FILE("glWriteFileAMD"),
    TEXTURE("glTextureSubImage");

    private final String vendorName;

    GlCall(String vendorName) {
        this.vendorName = vendorName;
    }

    String vendorName() {
        return vendorName;
    }

    /** Returns what GL's answer to the call means. */
    NativeFailure failure(int code) {
        return GlFailure.of(vendorName, code);
    }
}

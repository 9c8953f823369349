// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.context;

import io.penstock.NativeError;
import io.penstock.PenstockException;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.engine.spi.NativeFailure;

/** The calls that can fail, and the meaning of GL's errors. */
public enum GlCall {
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

    public String vendorName() {
        return vendorName;
    }

    public NativeError error(int code) {
        return new NativeError(vendorName, code, GlError.symbol(code));
    }

    /** Returns the failure that the GL error of the call stands for. */
    public NativeFailure failure(int code) {
        String cause = GlFailure.cause(code);
        NativeFailure.Kind other =
                code == GlError.OUT_OF_MEMORY ? NativeFailure.Kind.TRANSIENT : NativeFailure.Kind.PERMANENT;
        return new NativeFailure(error(code), cause.isEmpty() ? other : NativeFailure.Kind.LOST, cause);
    }

    /**
     * Checks that GL has no error; on the context's thread.
     *
     * @throws PenstockException with the first error; the others are cleared too
     */
    public void check(String request) {
        int code = GlFailure.takeError();
        if (code != GlError.NO_ERROR) {
            throw exception(request, code);
        }
    }

    /** Returns the exception for a request to the device that is not a transfer. */
    public PenstockException exception(String request, int code) {
        return failure(code).exception(request);
    }
}

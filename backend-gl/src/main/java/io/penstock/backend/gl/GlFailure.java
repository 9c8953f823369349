// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import io.penstock.BackendUnavailableException;
import io.penstock.DeviceLostException;
import io.penstock.Failure;
import io.penstock.NativeError;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.TransientStorageException;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.engine.spi.NativeFailure;

/** What an answer of GL means to whoever asked. */
final class GlFailure {

    private GlFailure() {}

    static NativeFailure of(String call, int code) {
        return new NativeFailure(error(call, code), kind(code), cause(code));
    }

    private static NativeError error(String call, int code) {
        return new NativeError(call, code, GlError.symbol(code));
    }

    private static NativeFailure.Kind kind(int code) {
        if (!cause(code).isEmpty()) {
            return NativeFailure.Kind.LOST;
        }
        return code == GlError.OUT_OF_MEMORY ? NativeFailure.Kind.TRANSIENT : NativeFailure.Kind.PERMANENT;
    }

    /** Returns who has brought a context down, for the answers after which nothing in it works; empty for all others. */
    static String cause(int code) {
        return switch (code) {
            case GlError.GUILTY_CONTEXT_RESET ->
                "a command in this GL context has hung the GPU, and the context is lost";
            case GlError.INNOCENT_CONTEXT_RESET ->
                "a command in another context, not this transfer, has hung the GPU, and this context is lost with it";
            case GlError.UNKNOWN_CONTEXT_RESET, GlError.CONTEXT_LOST ->
                "the GPU was reset, and this GL context is lost";
            default -> "";
        };
    }

    /**
     * Goes on if GL has no error to tell; on the thread of the context.
     *
     * @throws PenstockException with the first one; the others are taken out, too
     */
    static void check(String request, GlCall call) {
        int code = takeError();
        if (code != GlError.NO_ERROR) {
            throw exception(request, call.vendorName(), code);
        }
    }

    /** Returns the first error that GL has to tell, and takes all of them out. */
    static int takeError() {
        int first = Gl.glGetError();
        // A context that is lost, or not there, may say so for ever.
        for (int more = first, i = 0; more != GlError.NO_ERROR && i < 16; i++) {
            more = Gl.glGetError();
        }
        return first;
    }

    /** Returns what to throw where something was asked of the device that is no transfer. */
    static PenstockException exception(String request, String call, int code) {
        NativeFailure failure = of(call, code);
        Failure facts = new Failure(Outcome.NOT_STARTED, failure.error());
        String message = request + " failed: " + failure;
        return switch (failure.kind()) {
            case LOST -> new DeviceLostException(message, facts, null);
            case TRANSIENT, RETRY -> new TransientStorageException(message, facts, null);
            case PERMANENT, CANCELLED -> new PermanentStorageException(message, facts, null);
        };
    }

    static BackendUnavailableException unavailable(String why) {
        return new BackendUnavailableException(why, Failure.NOT_STARTED, null);
    }
}

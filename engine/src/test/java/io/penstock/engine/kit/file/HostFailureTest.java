// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.NativeError;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFailure.Kind;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HostFailureTest {

    @ParameterizedTest
    @CsvSource({
        "4, RETRY, EINTR",
        "11, RETRY, EAGAIN",
        "12, TRANSIENT, ENOMEM",
        "105, TRANSIENT, ENOBUFS",
        "16, TRANSIENT, EBUSY",
        "125, CANCELLED, ECANCELED",
        "5, PERMANENT, EIO",
        "28, PERMANENT, ENOSPC"
    })
    void aNegatedErrnoIsClassifiedByRemedy(int errno, Kind kind, String symbol) {
        assertThat(HostFailure.of("read", -errno)).isEqualTo(failure("read", errno, symbol, kind));
    }

    @ParameterizedTest
    @CsvSource({
        "8, TRANSIENT, ERROR_NOT_ENOUGH_MEMORY",
        "14, TRANSIENT, ERROR_OUTOFMEMORY",
        "170, TRANSIENT, ERROR_BUSY",
        "1450, TRANSIENT, ERROR_NO_SYSTEM_RESOURCES",
        "1453, TRANSIENT, ERROR_WORKING_SET_QUOTA",
        "1816, TRANSIENT, ERROR_NOT_ENOUGH_QUOTA",
        "5, PERMANENT, ERROR_ACCESS_DENIED"
    })
    void aNumberOfWindowsIsNeverTakenForAnErrno(int error, Kind kind, String symbol) {
        assertThat(HostFailure.of("ReadFile", -(HostFailure.FIRST_WINDOWS + error)))
                .isEqualTo(failure("ReadFile", error, symbol, kind));
    }

    @Test
    void anExceptionKeepsItsErrno() {
        assertThat(HostFailure.of("sync", new ErrnoException("fdatasync", Errno.EIO)))
                .isEqualTo(failure("fdatasync", Errno.EIO, "EIO", Kind.PERMANENT));
        assertThat(HostFailure.of("write", new IOException("No space left on device")))
                .isEqualTo(failure("write", 28, "ENOSPC", Kind.PERMANENT));
    }

    @Test
    void anExceptionWithoutANumberIsItsOwnText() {
        IOException odd = new IOException("a text that no system says");
        assertThat(HostFailure.of("read", odd)).isEqualTo(failure("read", 0, odd.toString(), Kind.PERMANENT));
        assertThat(HostFailure.of("read", new OutOfMemoryError("Java heap")).kind())
                .isEqualTo(Kind.TRANSIENT);
    }

    private static NativeFailure failure(String call, long number, String symbol, Kind kind) {
        return new NativeFailure(new NativeError(call, number, symbol), kind);
    }
}

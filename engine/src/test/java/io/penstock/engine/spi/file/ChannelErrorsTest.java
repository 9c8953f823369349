// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.FileOption;
import io.penstock.NativeError;
import io.penstock.engine.ffi.WindowsError;
import io.penstock.engine.host.file.ChannelFile;
import io.penstock.engine.spi.NativeFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class ChannelErrorsTest {

    private static final Path FULL = Path.of("/dev/full");

    @TempDir
    Path directory;

    @Test
    void aFullDeviceAnswersItsNumberThroughAFileChannelToo() throws IOException {
        assumeTrue(Files.exists(FULL), "this system has no /dev/full");
        ChannelFile file = ChannelFile.open(FULL, Set.of(FileOption.WRITE), 4096);
        long result = file.write(0, ByteBuffer.allocateDirect(512));
        file.close();
        NativeFailure failure = HostFailure.of("FileChannel.write", result);
        assertThat(failure.kind()).isEqualTo(NativeFailure.Kind.PERMANENT);
        assertThat(failure.error()).hasToString("FileChannel.write -> ENOSPC (28)");
    }

    @Test
    @EnabledOnOs(value = OS.WINDOWS, disabledReason = "the numbers are those of Windows")
    void localizedMessagesOfWindowsHaveTheirNumber() throws IOException {
        ChannelFile file =
                ChannelFile.open(directory.resolve("file"), Set.of(FileOption.WRITE, FileOption.CREATE), 4096);
        long result = file.write(Long.MAX_VALUE - 512, ByteBuffer.allocateDirect(512));
        file.close();
        NativeError refused = HostFailure.of("FileChannel.write", result).error();
        assertThat(refused.symbol()).startsWith("ERROR_");
        assertThat(WindowsError.symbol((int) refused.code())).isEqualTo(refused.symbol());
        assertThat(HostFailure.of("FileChannel.read", -(HostFailure.FIRST_WINDOWS + 8))
                        .kind())
                .isEqualTo(NativeFailure.Kind.TRANSIENT);
    }

    @Test
    void anUnknownExceptionIsReportedUnchanged() {
        NativeFailure failure = HostFailure.of("FileChannel.write", new IOException("gremlins"));
        assertThat(failure.kind()).isEqualTo(NativeFailure.Kind.PERMANENT);
        assertThat(failure.error().toString()).contains("gremlins");
    }

    @Test
    void anExceptionWithoutAMessageIsReportedToo() {
        NativeFailure failure = HostFailure.of("FileChannel.read", new IOException());
        assertThat(failure.error().toString()).contains("IOException");
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import io.penstock.FileOption;
import io.penstock.NativeError;
import io.penstock.engine.host.file.ChannelFile;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.WindowsError;
import io.penstock.engine.spi.NativeFailure;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class ChannelErrorsTest {

    private static final Path FULL = Path.of("/dev/full");
    private static final Path GERMAN = Path.of("/usr/share/locale/de/LC_MESSAGES/libc.mo"); // Debian: libc-l10n

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
    void errorsHaveTheirNumbersInAnotherLanguageToo() throws IOException, InterruptedException {
        assumeTrue(
                Machine.isSupported() && Files.exists(FULL) && Files.exists(GERMAN),
                "this system has no German messages of a C library");
        ProcessBuilder child = new ProcessBuilder(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                ChannelErrorsTest.class.getName()));
        child.environment().putAll(Map.of("LC_ALL", "C.UTF-8", "LANGUAGE", "de"));
        Process german = child.redirectErrorStream(true).start();
        String said = new String(german.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(german.waitFor()).as(said).isZero();
        assertThat(said).contains("Auf dem Ger\u00e4t ist kein Speicherplatz", "ENOSPC (28)");
    }

    /** Of the JVM in the other language. */
    public static void main(String[] args) throws IOException {
        try (FileChannel channel = FileChannel.open(FULL, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(1));
        } catch (IOException e) {
            System.out.write((e + " is " + HostFailure.of("write", e).error()).getBytes(StandardCharsets.UTF_8));
            System.out.flush();
        }
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "the numbers are Linux's")
    void eachMessageOfTheCLibraryHasItsNumber() {
        Function strerror = NativeLibrary.getProcess().getFunction("strerror");
        for (int errno : new int[] {Errno.EINTR, Errno.EAGAIN, Errno.ENOMEM, 18, 26, 75}) {
            IOException said = new IOException(strerror.invokeString(new Object[] {errno}, false));
            assertThat(HostFailure.of("read", said).error().code())
                    .as(said.getMessage())
                    .isEqualTo(errno);
        }
        assertThat(Errno.number(strerror.invokeString(new Object[] {41}, false)))
                .as("a number that there is not")
                .isZero();
    }

    @Test
    @EnabledOnOs(value = OS.WINDOWS, disabledReason = "the numbers are Windows'")
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

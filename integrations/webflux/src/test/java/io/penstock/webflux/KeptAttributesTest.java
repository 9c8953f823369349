// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.file.NativeFiles;
import io.penstock.file.PartFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/** With the engine, which has calls that the JDK lacks. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "other systems have no unnamed files")
class KeptAttributesTest {

    @TempDir
    Path folder;

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    private boolean hasUnnamedFiles() {
        var file = NativeFiles.ofSystem().unnamed(folder, 0600);
        file.ifPresent(NativeFiles.Unnamed::close);
        return file.isPresent();
    }

    /** A process that is killed then leaves nothing. */
    @Test
    void whileItIsWrittenThereIsNoNameForIt() throws IOException {
        assumeTrue(hasUnnamedFiles(), "no unnamed files here");
        Path target = Files.writeString(folder.resolve("file"), "old");
        List<String> during = PartFile.write(target, ByteBuffer.allocate(3), part -> Mono.fromCallable(this::names))
                .block();
        assertThat(during).containsExactly("file");
        assertThat(names()).containsExactly("file");
        assertThat(target).hasBinaryContent(new byte[3]);
    }

    @Test
    void ownerPermissionsAndExtendedAttributesStay() throws IOException {
        Path target = Files.writeString(folder.resolve("file"), "old");
        Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rw-r-----"));
        UserDefinedFileAttributeView view = Files.getFileAttributeView(target, UserDefinedFileAttributeView.class);
        try {
            view.write("origin", ByteBuffer.wrap("here".getBytes(StandardCharsets.UTF_8)));
        } catch (IOException e) {
            assumeTrue(false, "no extended attributes here");
        }
        boolean root = "root".equals(System.getProperty("user.name"));
        if (root) {
            Files.setAttribute(target, "unix:uid", 1234);
            Files.setAttribute(target, "unix:gid", 4321);
        }
        PartFile.write(target, ByteBuffer.allocate(3), part -> Mono.just(1)).block();
        assertThat(target).hasBinaryContent(new byte[3]);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(target)))
                .isEqualTo("rw-r-----");
        ByteBuffer value = ByteBuffer.allocate(4);
        view.read("origin", value);
        assertThat(new String(value.array(), StandardCharsets.UTF_8)).isEqualTo("here");
        if (root) {
            assertThat(Files.getAttribute(target, "unix:uid")).isEqualTo(1234);
            assertThat(Files.getAttribute(target, "unix:gid")).isEqualTo(4321);
        }
    }
}

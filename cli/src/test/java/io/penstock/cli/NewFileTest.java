// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.cli.ffi.UnnamedFile;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Without a name, and as on file systems that have no such files. */
class NewFileTest {

    private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rw-r-----");

    @TempDir
    Path folder;

    private Path path;

    @BeforeEach
    void name() {
        path = folder.resolve("new");
    }

    @Test
    void untilItIsCommittedNothingIsThereThatAKilledProcessCouldLeave() throws IOException {
        assumeUnnamedFiles();
        try (NewFile file = new NewFile(path, false, PRIVATE)) {
            Files.writeString(file.part(), "whole");
            assertThat(names()).isEmpty();
            assertThat(file.leftByKill()).isEmpty();
            file.commit();
            assertThat(path).hasContent("whole");
        }
        assertThat(names()).containsExactly("new");
    }

    @Test
    void withoutUnnamedFilesTheHiddenNameIsPrinted() throws IOException {
        try (NewFile file = new NewFile(path, false, PRIVATE, false)) {
            assertThat(file.leftByKill()).contains(file.part());
            assertThat(names()).containsExactly(file.part().getFileName().toString());
        }
        assertThat(names()).isEmpty();
    }

    @Test
    void whatCannotBeWrittenIsNamedWithTheFirstCause() throws IOException {
        try (NewFile file = new NewFile(path, false, null)) {
            assertThatThrownBy(() -> file.write(part -> {
                        throw new IOException("a picture cannot be written", new IOException("no space"));
                    }))
                    .isInstanceOf(FileSystemException.class)
                    .hasMessage(path + ": no space");
        }
        assertThat(names()).isEmpty();
    }

    @Test
    void whatIsNoRegularFileIsNotReplaced() throws IOException {
        try (ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            socket.bind(UnixDomainSocketAddress.of(path)); // as /dev/null, which only root can lose
            Path link = Files.createSymbolicLink(folder.resolve("link"), path);
            for (Path target : List.of(path, link)) {
                assertThatThrownBy(() -> new NewFile(target, true, PRIVATE))
                        .isInstanceOf(FileSystemException.class)
                        .hasMessageContaining("only a regular file is replaced");
            }
            assertThat(Files.readAttributes(path, BasicFileAttributes.class).isOther())
                    .isTrue();
        }
        assertThat(names()).containsExactlyInAnyOrder("new", "link");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aNameMayBeAsLongAsAny(boolean unnamed) throws IOException {
        String longest = "x".repeat(255);
        for (boolean replace : new boolean[] {false, true}) {
            try (NewFile file = new NewFile(folder.resolve(longest), replace, PRIVATE, unnamed)) {
                Files.writeString(file.part(), "replaced: " + replace);
                file.commit();
            }
            assertThat(folder.resolve(longest)).hasContent("replaced: " + replace);
            assertThat(names()).containsExactly(longest);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void itReplacesOnlyIfItMay(boolean unnamed) throws IOException {
        Files.writeString(path, "old");
        assertThatThrownBy(() -> new NewFile(path, false, PRIVATE, unnamed))
                .isInstanceOf(FileAlreadyExistsException.class);
        try (NewFile file = new NewFile(path, true, PRIVATE, unnamed)) {
            Files.writeString(file.part(), "new");
            assertThat(path).hasContent("old");
            file.commit();
        }
        assertThat(path).hasContent("new");
        assertThat(names()).containsExactly("new");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aFileCreatedMeanwhileIsNotReplaced(boolean unnamed) throws IOException {
        try (NewFile file = new NewFile(path, false, PRIVATE, unnamed)) {
            Files.writeString(file.part(), "new");
            Files.createSymbolicLink(path, Path.of("nowhere"));
            assertThatThrownBy(file::commit).isInstanceOf(FileAlreadyExistsException.class);
        }
        assertThat(path).isSymbolicLink();
        assertThat(names()).containsExactly("new");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void untilItIsCommittedOnlyItsOwnerCanReadIt(boolean unnamed) throws IOException {
        try (NewFile file = new NewFile(path, false, PosixFilePermissions.fromString("r--r--r--"), unnamed)) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.part())))
                    .isEqualTo("rw-------");
            file.commit();
        }
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                .isEqualTo("r--r--r--");
    }

    @Test
    void aClosedUnnamedFileIsClosedOnce() {
        assumeUnnamedFiles();
        UnnamedFile first = UnnamedFile.in(folder, 0600).orElseThrow();
        first.close();
        UnnamedFile second = UnnamedFile.in(folder, 0600).orElseThrow(); // with the same descriptor, in all likelihood
        first.close();
        assertThat(second.path()).exists();
        second.close();
    }

    private void assumeUnnamedFiles() {
        var file = UnnamedFile.in(folder, 0600);
        file.ifPresent(UnnamedFile::close);
        assumeTrue(file.isPresent(), "no unnamed files in " + folder);
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }
}

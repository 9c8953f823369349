// SPDX-License-Identifier: Apache-2.0
package io.penstock.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.penstock.engine.kit.ffi.UnnamedFile;
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
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** What commands need of a new file: without a name, and as on file systems that have no such files. */
class PartFileCustomsTest {

    private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rw-r-----");

    @TempDir
    Path folder;

    private Path path;

    private static PartFile create(
            Path path, boolean replaces, @Nullable Set<PosixFilePermission> permissions, boolean unnamed)
            throws IOException {
        NativeFiles none = new NativeFiles() {};
        return PartFile.create(path, replaces, permissions, unnamed ? NativeFiles.ofSystem() : none);
    }

    @BeforeEach
    void name() {
        path = folder.resolve("new");
    }

    @Test
    void untilItIsCommittedNothingIsThereThatAKilledProcessCouldLeave() throws IOException {
        assumeUnnamedFiles();
        try (PartFile file = create(path, false, PRIVATE, true)) {
            Files.writeString(file.path(), "whole");
            assertThat(names()).isEmpty();
            assertThat(file.leftByKill()).isEmpty();
            file.commit();
            assertThat(path).hasContent("whole");
        }
        assertThat(names()).containsExactly("new");
    }

    @Test
    void withoutUnnamedFilesTheHiddenNameIsPrinted() throws IOException {
        try (PartFile file = create(path, false, PRIVATE, false)) {
            assertThat(file.leftByKill()).contains(file.path());
            assertThat(names()).containsExactly(".new.0.lock", ".new.0.part");
        }
        assertThat(names()).isEmpty();
    }

    @Test
    void whatCannotBeWrittenIsNamedWithTheFirstCause() throws IOException {
        try (PartFile file = create(path, false, null, true)) {
            assertThatThrownBy(() -> file.fill(part -> {
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
                assertThatThrownBy(() -> create(target, true, PRIVATE, true))
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
            try (PartFile file = create(folder.resolve(longest), replace, PRIVATE, unnamed)) {
                Files.writeString(file.path(), "replaced: " + replace);
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
        assertThatThrownBy(() -> create(path, false, PRIVATE, unnamed)).isInstanceOf(FileAlreadyExistsException.class);
        try (PartFile file = create(path, true, PRIVATE, unnamed)) {
            Files.writeString(file.path(), "new");
            assertThat(path).hasContent("old");
            file.commit();
        }
        assertThat(path).hasContent("new");
        assertThat(names()).containsExactly("new");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aFileCreatedMeanwhileIsNotReplaced(boolean unnamed) throws IOException {
        try (PartFile file = create(path, false, PRIVATE, unnamed)) {
            Files.writeString(file.path(), "new");
            Files.createSymbolicLink(path, Path.of("nowhere"));
            assertThatThrownBy(file::commit).isInstanceOf(FileAlreadyExistsException.class);
        }
        assertThat(path).isSymbolicLink();
        assertThat(names()).containsExactly("new");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void untilItIsCommittedOnlyItsOwnerCanReadIt(boolean unnamed) throws IOException {
        try (PartFile file = create(path, false, PosixFilePermissions.fromString("r--r--r--"), unnamed)) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.path())))
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

    /** As of CIFS and FUSE. */
    @Test
    void whatTheFileSystemRefusesToKeepIsToldAndDoesNotEndTheWork() throws IOException {
        Files.writeString(path, "old");
        Files.setPosixFilePermissions(path, PRIVATE);
        NativeFiles refusing = new NativeFiles() {
            @Override
            public void copyAttributes(Path from, Path to) throws IOException {
                throw new IOException("user.origin: EOPNOTSUPP");
            }
        };
        Logger logger = (Logger) LoggerFactory.getLogger(KeptAttributes.class);
        ListAppender<ILoggingEvent> said = new ListAppender<>();
        said.start();
        logger.addAppender(said);
        try (PartFile file = PartFile.create(path, true, null, refusing)) {
            file.fill(part -> Files.writeString(part, "new"));
            file.commit();
        } finally {
            logger.detachAppender(said);
        }
        assertThat(path).hasContent("new");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                .as("not more than for all: an ACL may have restricted the group")
                .isEqualTo("rw-------");
        assertThat(said.list)
                .singleElement()
                .extracting(ILoggingEvent::getFormattedMessage, InstanceOfAssertFactories.STRING)
                .contains(path + " cannot have its ACL or an extended attribute", "EOPNOTSUPP");
    }
}

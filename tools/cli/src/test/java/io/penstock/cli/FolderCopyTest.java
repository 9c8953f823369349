// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cli.testing.CommandLineRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** {@code penstock copy} of folders. */
@DisabledOnOs(OS.WINDOWS)
class FolderCopyTest {

    @TempDir
    Path folder;

    private Path source() throws IOException {
        Path source = Files.createDirectories(folder.resolve("source"));
        Random random = new Random(1);
        for (int i = 0; i < 200; i++) {
            byte[] bytes = new byte[random.nextInt(9001)];
            random.nextBytes(bytes);
            Files.write(Files.createDirectories(source.resolve("in " + i % 7)).resolve("file " + i), bytes);
        }
        Files.write(source.resolve("large"), new byte[9 << 20]);
        Files.createDirectory(source.resolve("empty"));
        Files.setPosixFilePermissions(
                Files.writeString(source.resolve("script"), "#!"), PosixFilePermissions.fromString("rwx------"));
        Files.createSymbolicLink(source.resolve("link"), Path.of("large"));
        return source;
    }

    private static void assertSame(Path source, Path copy) throws IOException {
        try (var all = Files.walk(source)) {
            for (Path path : all.toList()) {
                Path other = copy.resolve(source.relativize(path));
                if (Files.isDirectory(path)) {
                    assertThat(other).isDirectory();
                } else {
                    assertThat(other).hasSameBinaryContentAs(path);
                }
            }
        }
        assertThat(copy.resolve("link")).isSymbolicLink();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(copy.resolve("script"))))
                .isEqualTo("rwx------");
    }

    @Test
    void aFolderIsCopiedWithAllThatIsInIt() throws IOException {
        Path source = source();
        Path copy = folder.resolve("copy");
        CommandLineRun run = CommandLineRun.of("copy", source, copy, "--jobs", "16", "--backend", "host");
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(run.out())
                .startsWith("copied 203 files of ")
                .contains(" to " + copy)
                .contains("backend host");
        assertSame(source, copy);
    }

    @Test
    void whatExistsIsReportedOrReplacedAndTheOthersAreCopied() throws IOException {
        Path source = source();
        Path copy = Files.createDirectories(folder.resolve("copy").resolve("source"));
        Path there =
                Files.writeString(Files.createDirectory(copy.resolve("in 3")).resolve("file 3"), "old");
        CommandLineRun run = CommandLineRun.of("copy", source, folder.resolve("copy"), "--backend", "host");
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err()).contains("file 3").contains("1 files were not copied");
        assertThat(there).hasContent("old");
        CommandLineRun forced =
                CommandLineRun.of("copy", source, folder.resolve("copy"), "--force", "--backend", "host");
        assertThat(forced.err()).isEmpty();
        assertThat(forced.code()).isZero();
        assertSame(source, copy);
    }

    @Test
    void whatAFolderCannotBeCopiedWithIsRefused() throws IOException {
        Path source = source();
        CommandLineRun run = CommandLineRun.of("copy", source, folder.resolve("copy"), "--verify");
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err()).contains("is a directory");
        assertThat(folder.resolve("copy")).doesNotExist();
    }

    @Test
    void aTargetThatLiesInTheSourceByALinkIsRefused() throws IOException {
        Path source = source();
        Path alias = Files.createSymbolicLink(folder.resolve("alias"), source);
        CommandLineRun run = CommandLineRun.of("copy", source, alias.resolve("copy"), "--backend", "host");
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err()).contains("would lie in it");
        assertThat(source.resolve("copy")).doesNotExist();
        CommandLineRun onto = CommandLineRun.of("copy", source.resolve("in 1").resolve(".."), alias, "--force");
        assertThat(onto.code()).isEqualTo(1);
        assertThat(source.resolve("link")).isSymbolicLink();
    }

    @Test
    void aSourceThatEndsInDotsHasTheNameOfItsFolder() throws IOException {
        Path source = source();
        Path target = Files.createDirectory(folder.resolve("target"));
        CommandLineRun run =
                CommandLineRun.of("copy", source.resolve("in 1").resolve(".."), target, "--backend", "host");
        assertThat(run.err()).isEmpty();
        assertSame(source, target.resolve("source"));
        assertThat(folder.resolve("large")).doesNotExist();
    }

    @Test
    void aLinkToAFolderIsCopiedAsTheFolder() throws IOException {
        Path source = source();
        Path alias = Files.createSymbolicLink(folder.resolve("alias"), source);
        CommandLineRun run = CommandLineRun.of("copy", alias, folder.resolve("copy"), "--backend", "host");
        assertThat(run.err()).isEmpty();
        assertSame(source, folder.resolve("copy"));
    }

    @Test
    void nothingIsWrittenThroughALinkOfTheTargetAndTheOthersAreCopied() throws IOException {
        Path source = source();
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Path copy = Files.createDirectory(folder.resolve("copy"));
        Files.createSymbolicLink(Files.createDirectory(copy.resolve("source")).resolve("in 1"), elsewhere);
        Files.writeString(copy.resolve("source").resolve("in 2"), "a file where a folder must go");
        CommandLineRun run = CommandLineRun.of("copy", source, copy, "--force", "--backend", "host");
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err()).contains("in 1: is a link").contains("in 2").contains("2 files were not copied");
        assertThat(elsewhere).isEmptyDirectory();
        assertThat(copy.resolve("source").resolve("in 3").resolve("file 3"))
                .hasSameBinaryContentAs(source.resolve("in 3").resolve("file 3"));
    }

    @Test
    void foldersAndPrivateFilesKeepTheirPermissions() throws IOException {
        Path source = source();
        Path secret = Files.createDirectory(
                source.resolve("secret"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Path key = Files.writeString(secret.resolve("key"), "k");
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        Path readOnly = Files.createDirectory(source.resolve("read only"));
        Files.writeString(readOnly.resolve("file"), "f");
        Files.setPosixFilePermissions(readOnly, PosixFilePermissions.fromString("r-xr-xr-x"));
        Path copy = folder.resolve("copy");
        CommandLineRun run = CommandLineRun.of("copy", source, copy, "--backend", "host");
        assertThat(run.err()).isEmpty();
        for (Path path : new Path[] {source, secret, key, readOnly}) {
            assertThat(Files.getPosixFilePermissions(copy.resolve(source.relativize(path))))
                    .as("%s", path)
                    .isEqualTo(Files.getPosixFilePermissions(path));
        }
        assertThat(copy.resolve("read only").resolve("file")).hasContent("f");
        for (Path path : new Path[] {readOnly, copy.resolve("read only")}) { // which may be deleted
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
    }
}

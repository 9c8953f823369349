// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.testing.BackendFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * One file by all the names that Windows has for it: drives, slashes of both kinds, relative, beyond 260 characters.
 */
@ExtendWith(SsgFake.class)
class WindowsPathsTest {

    @TempDir
    Path folder;

    private static List<String> namesOf(Path file) {
        String drive = file.toString().substring(0, 2);
        String rest = file.toString().substring(2);
        return List.of(
                drive + rest,
                drive.toLowerCase(Locale.ROOT) + rest,
                drive + rest.replace('\\', '/'),
                drive + rest.replace("\\deep\\", "\\.\\deep\\..\\deep\\"));
    }

    private static Options options(Dx11Path path) {
        return SsgFake.options(1).with(Dx11Options.PATH, path);
    }

    private void assertReads(SsgBench bench, Path name, byte[] bytes, TransferPath path) {
        DeviceBuffer buffer = bench.buffer(bytes.length);
        try (StorageFile file = bench.backend()
                .openFile(name, FileOption.READ, FileOption.WRITE)
                .block(SsgBench.PATIENCE)) {
            Completion done = bench.run(Transfer.read(file.all(), buffer.all()));
            assertThat(done.path()).as("%s", name).isEqualTo(path);
            assertThat(BackendFixture.content(buffer)).as("%s", name).isEqualTo(bytes);
            bench.run(Transfer.write(buffer.all(), file.region(0, bytes.length)));
        } finally {
            buffer.close();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SSG", "STAGED"})
    void everyNameOfAFileIsTheFile(Dx11Path variant) throws IOException {
        byte[] bytes = BackendFixture.random(4 * SsgFake.BLOCK, 1);
        Path file = Files.write(Files.createDirectories(folder.resolve("deep")).resolve("file"), bytes);
        assertThat(file.toString()).matches("[A-Z]:\\\\.*\\\\deep\\\\file");
        TransferPath path = variant == Dx11Path.SSG ? TransferPath.DIRECT : TransferPath.STAGED;
        try (SsgBench bench = new SsgBench(folder, options(variant))) {
            for (String name : namesOf(file)) {
                assertReads(bench, Path.of(name), bytes, path);
            }
        }
        assertThat(file).hasBinaryContent(bytes);
    }

    @ParameterizedTest
    @EnumSource(names = {"SSG", "STAGED"})
    void aRelativeNameIsOneOfTheWorkingFolder(Dx11Path variant) throws IOException {
        byte[] bytes = BackendFixture.random(SsgFake.BLOCK, 2);
        Path file = Files.write(Files.createTempFile(Path.of("target"), "relative", null), bytes);
        assertThat(file).isRelative();
        TransferPath path = variant == Dx11Path.SSG ? TransferPath.DIRECT : TransferPath.STAGED;
        try (SsgBench bench = new SsgBench(folder, options(variant))) {
            assertReads(bench, file, bytes, path);
            assertReads(bench, Path.of(".", "target", "..", file.toString()), bytes, path);
        } finally {
            Files.delete(file);
        }
    }

    /** A driver that takes such names only with their prefix does not get them: the file goes by staging buffers. */
    @ParameterizedTest
    @EnumSource(names = {"SSG", "STAGED"})
    void aNameOfMoreThan260CharactersIsRead(Dx11Path variant) throws IOException {
        byte[] bytes = BackendFixture.random(SsgFake.BLOCK, 3);
        Path deep = folder;
        while (deep.toString().length() < 300) {
            deep = deep.resolve("a folder with a name of some length");
        }
        Path file = Files.write(Files.createDirectories(deep).resolve("file"), bytes);
        try (SsgBench bench = new SsgBench(folder, options(variant));
                StorageFile opened =
                        bench.backend().openFile(file, FileOption.READ).block(SsgBench.PATIENCE)) {
            DeviceBuffer buffer = bench.buffer(bytes.length);
            assertThat(bench.run(Transfer.read(opened.all(), buffer.all())).bytes())
                    .isEqualTo(bytes.length);
            assertThat(BackendFixture.content(buffer)).isEqualTo(bytes);
        }
    }
}

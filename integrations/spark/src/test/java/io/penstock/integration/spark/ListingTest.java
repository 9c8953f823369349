// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which files are listed where links, and what cannot be read, lie among them. */
class ListingTest {

    @TempDir
    Path folder;

    private Path data;
    private Path links;

    @BeforeEach
    void link() throws IOException {
        data = Files.createDirectory(folder.resolve("data"));
        Files.write(data.resolve("a"), new byte[1]);
        Files.write(Files.createDirectory(data.resolve("sub")).resolve("b"), new byte[1]);
        Samples.zarr(data.resolve("z"));
        links = Files.createDirectory(folder.resolve("links"));
    }

    private static List<Path> list(Path path, boolean raw, boolean recursive) throws IOException {
        return Listing.of(SourceOptions.of(new CaseInsensitiveStringMap(
                Map.of("path", path.toString(), "raw", raw + "", "recursiveFileLookup", recursive + ""))));
    }

    @Test
    void aLinkToADirectoryIsListedAsTheDirectory() throws IOException {
        Path current = Files.createSymbolicLink(links.resolve("current"), data);
        assertThat(list(current, true, false)).containsExactly(current.resolve("a"));
        assertThat(list(current, false, true))
                .containsExactly(current.resolve("a"), current.resolve("sub/b"), current.resolve("z"));
    }

    @Test
    void linksInADirectoryAreFollowed() throws IOException {
        Files.createSymbolicLink(links.resolve("file"), data.resolve("a"));
        Files.createSymbolicLink(links.resolve("sub"), data.resolve("sub"));
        Files.createSymbolicLink(links.resolve("zarr"), data.resolve("z"));
        Files.createSymbolicLink(links.resolve("_hidden"), data.resolve("a"));
        assertThat(list(links, false, false)).containsExactly(links.resolve("file"), links.resolve("zarr"));
        assertThat(list(links, false, true))
                .containsExactly(links.resolve("file"), links.resolve("sub/b"), links.resolve("zarr"));
    }

    @Test
    void aLinkToWhatItLiesInOrToNothingIsLeftOut() throws IOException {
        Files.createSymbolicLink(links.resolve("loop"), links);
        Files.createSymbolicLink(links.resolve("nothing"), folder.resolve("absent"));
        Files.createSymbolicLink(links.resolve("file"), data.resolve("a"));
        assertThat(list(links, true, true)).containsExactly(links.resolve("file"));
    }

    /** Such as lost+found of a mounted disk, and .Trash: neither is read. */
    @ParameterizedTest
    @CsvSource({"lost+found, false", ".Trash, false", ".Trash, true", "_private, true"})
    void aDirectoryThatIsNotReadNeedNotBeReadable(String name, boolean recursive) throws IOException {
        Path here = Files.write(links.resolve("a"), new byte[1]);
        Path closed = Files.createDirectory(links.resolve(name));
        Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("---------"));
        try {
            assumeTrue(!Files.isReadable(closed), "root reads every directory");
            assertThat(list(links, true, recursive)).containsExactly(here);
        } finally {
            Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("rwx------"));
        }
    }

    @Test
    void aDirectoryOfConsolidatedMetadataAloneIsNoArray() throws IOException {
        Files.writeString(data.resolve(".zmetadata"), "{}");
        assertThat(list(folder, false, true)).contains(data.resolve("a"), data.resolve("z"));
    }
}

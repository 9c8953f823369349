// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which files are listed where links lie among them. */
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
}

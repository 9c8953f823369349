// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Option;
import io.penstock.Options;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SsgProofTest {

    private final Option<String> named = Option.text("penstock.ssg-trial-file", "", "a file, for this test");

    private final List<SeenFile> opened = new ArrayList<>();

    private long blockBytes(Options options) throws SsgRefusal {
        return SsgProof.blockBytes(options, named, (path, write) -> {
            assertThat(write).as("nothing is written to a file of the user's").isFalse();
            assertThat(Files.size(path)).as("some drivers want no empty file").isPositive();
            SeenFile seen = new SeenFile(path, write, 4096);
            opened.add(seen);
            return seen;
        });
    }

    @Test
    void aTemporaryFileIsTriedAndTakenAway() throws SsgRefusal {
        assertThat(blockBytes(Options.none())).isEqualTo(4096);
        assertThat(opened).hasSize(1);
        assertThat(opened.get(0).users).isZero();
        assertThat(opened.get(0).path).doesNotExist();
    }

    @Test
    void aFileThatIsNamedIsTriedAndStays(@TempDir Path folder) throws IOException {
        Path file = Files.write(folder.resolve("on-the-card"), new byte[3]);
        assertThat(blockBytes(Options.none().with(named, file.toString()))).isEqualTo(4096);
        assertThat(opened).extracting(seen -> seen.path).containsExactly(file);
        assertThat(opened.get(0).users).isZero();
        assertThat(file).hasSize(3);
    }

    @Test
    void aRefusalOfATemporaryFileNamesTheOptionForAnother() {
        List<Path> asked = new ArrayList<>();
        assertThatThrownBy(() -> SsgProof.blockBytes(Options.none(), named, (path, write) -> {
                    asked.add(path);
                    throw new SsgRefusal("not on this disk");
                }))
                .isInstanceOf(SsgRefusal.class)
                .hasMessage("not on this disk; set a file on the card's disk in penstock.ssg-trial-file");
        assertThat(asked.get(0)).doesNotExist();
    }

    @Test
    void aRefusalOfANamedFileIsTheDriversAlone(@TempDir Path folder) {
        Options options = Options.none().with(named, folder.resolve("not-there").toString());
        assertThatThrownBy(() -> SsgProof.blockBytes(options, named, (path, write) -> {
                    throw new IOException("no " + path.getFileName());
                }))
                .isInstanceOf(SsgRefusal.class)
                .hasMessage("no not-there");
    }

    /** Its own message is the name of the file alone, or none. */
    @Test
    void anErrorWithoutAMessageOfItsOwnIsNamed(@TempDir Path folder) {
        Path file = folder.resolve("not-there");
        Options options = Options.none().with(named, file.toString());
        assertThatThrownBy(() -> SsgProof.blockBytes(options, named, (path, write) -> {
                    throw new NoSuchFileException(path.toString());
                }))
                .isInstanceOf(SsgRefusal.class)
                .hasMessage("java.nio.file.NoSuchFileException: " + file);
        assertThatThrownBy(() -> SsgProof.blockBytes(options, named, (path, write) -> {
                    throw new IOException();
                }))
                .isInstanceOf(SsgRefusal.class)
                .hasMessage("java.io.IOException");
    }

    @Test
    void blocksArePowersOfTwo() throws SsgRefusal {
        assertThat(SsgFileObject.checkedBlock("a file", 512)).isEqualTo(512);
        for (long bytes : new long[] {0, -512, Long.MIN_VALUE, 768}) {
            assertThatThrownBy(() -> SsgFileObject.checkedBlock("a file", bytes))
                    .isInstanceOf(SsgRefusal.class)
                    .hasMessage("a file refused: blocks of " + bytes + " bytes");
        }
    }
}

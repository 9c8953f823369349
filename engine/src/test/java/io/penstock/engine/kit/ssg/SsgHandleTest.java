// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.FileOption;
import io.penstock.engine.kit.file.HostFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Files of a driver that sees no file grow. */
class SsgHandleTest {

    @TempDir
    Path folder;

    private final List<SeenFile> opened = new ArrayList<>();
    private final SsgFiles files = new SsgFiles();
    private final SsgFileObject.Opener opener = (path, write) -> {
        SeenFile seen = new SeenFile(path, write, write ? 4096 : 512);
        opened.add(seen);
        return seen;
    };
    private Path path;

    @BeforeEach
    void make() throws IOException {
        path = Files.write(folder.resolve("file"), new byte[8192]);
    }

    @Test
    void openingsOfOneFileShareItsObjects() throws IOException {
        SsgHandle first = files.open(opener, path, Set.of(FileOption.READ));
        SsgHandle second = files.open(opener, path, Set.of(FileOption.READ));
        assertThat(second).isSameAs(first);
        assertThat(opened).hasSize(1);
        files.close(first);
        assertThat(opened.get(0).users).as("one opening is left").isEqualTo(1);
        files.close(second);
        assertThat(opened.get(0).users).isZero();
    }

    /** Returns a host file whose methods return these values, or throw them. */
    private static HostFile host(Map<String, Object> answers) {
        return (HostFile) Proxy.newProxyInstance(
                HostFile.class.getClassLoader(), new Class<?>[] {HostFile.class}, (proxy, method, arguments) -> {
                    Object answer = answers.get(method.getName());
                    if (answer instanceof Throwable thrown) {
                        throw thrown;
                    }
                    return answer;
                });
    }

    /** The driver would end each read of it where its length says, at 0 bytes, and call that right. */
    @Test
    void required_103_aFileThatStatesNoLengthIsRefused() throws IOException {
        HostFile unstated = host(Map.of("toString", "unstated", "reason", "", "size", 0L, "read", 1L));
        assertThatThrownBy(() -> SsgHandle.open(opener, unstated, false))
                .isInstanceOf(SsgRefusal.class)
                .hasMessage("unstated states no length, and the driver reads no further than that");
        assertThat(opened).isEmpty();
        SsgHandle empty = files.open(opener, Files.write(path, new byte[0]), Set.of(FileOption.READ));
        files.close(empty);
    }

    /** The I/O queue asks for its length, and would wait for its server with all transfers of the backend. */
    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "there is no /proc, and no other file system is told apart")
    void aFileOfAnotherFileSystemThanADisksIsRefused() {
        for (Path remote : List.of(Path.of("/proc/self/status"), Path.of("/sys/kernel/uevent_seqnum"))) {
            assertThatThrownBy(() -> files.open(opener, remote, Set.of(FileOption.READ)))
                    .isInstanceOf(SsgRefusal.class)
                    .hasMessageStartingWith(
                            remote + " does not lie on a local disk: it goes by blocking calls on threads: ")
                    .hasMessageNotContaining("rights");
        }
        assertThat(opened).isEmpty();
    }

    @Test
    void aCloseThatFailsDoesNotHideTheRefusal() {
        UncheckedIOException late = new UncheckedIOException(new IOException("late"));
        HostFile host = host(Map.of("close", late, "path", path, "reason", "", "size", 1L));
        SsgRefusal refusal = new SsgRefusal("refused");
        SsgFileObject.Opener refusing = (file, write) -> {
            throw refusal;
        };
        assertThatThrownBy(() -> SsgHandle.open(refusing, host, false))
                .isSameAs(refusal)
                .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
    }

    @Test
    void aHandleForWritingHasAnObjectOfEachKindAndTheLargerBlocks() throws IOException {
        SsgHandle handle = files.open(opener, path, Set.of(FileOption.READ, FileOption.WRITE));
        assertThat(opened).extracting(seen -> seen.write).containsExactly(false, true);
        assertThat(handle.blockBytes()).isEqualTo(4096);
        files.close(handle);
        assertThat(opened).extracting(seen -> seen.users).containsOnly(0);
    }

    @Test
    void aFileThatHasGrownIsOpenedAnewAndTheOldObjectStaysForItsUsers() throws IOException {
        SsgHandle handle = files.open(opener, path, Set.of(FileOption.READ));
        SsgFileObject used = handle.take(false, 8192, 8192);
        assertThat(used).isNotNull();
        assertThat(handle.take(false, 8193, 8193))
                .as("the driver does not report it")
                .isNull();
        Files.write(path, new byte[16384]);
        handle.reach(false, 16384);
        SsgFileObject fresh = handle.take(false, 16384, 16384);
        assertThat(fresh).isSameAs(opened.get(1));
        assertThat(opened.get(0).users).as("its one command").isEqualTo(1);
        used.release();
        fresh.release();
        files.close(handle);
        assertThat(opened).extracting(seen -> seen.users).containsOnly(0);
    }

    @Test
    void aFileThatWasMadeLongerIsOpenedAnewForWriting() throws IOException {
        SsgHandle handle = files.open(opener, path, Set.of(FileOption.READ, FileOption.WRITE));
        handle.host().lengthen(20_000);
        handle.reach(true, 20_000);
        assertThat(handle.take(true, 20_000, 20_000)).isSameAs(opened.get(2));
        opened.get(2).release();
        files.close(handle);
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "an open file keeps its name there")
    void anotherFileOfTheNameIsRefused() throws IOException {
        SsgHandle handle = files.open(opener, path, Set.of(FileOption.READ));
        Path other = Files.write(folder.resolve("other"), new byte[16384]);
        Files.move(other, path, StandardCopyOption.REPLACE_EXISTING);
        assertThatThrownBy(() -> handle.reach(false, 16384))
                .isInstanceOf(SsgRefusal.class)
                .hasMessage(path + " has been replaced by another file");
        assertThat(opened.get(1).users).as("what was opened for it").isZero();
        files.close(handle);
    }

    @Test
    void aHandleThatIsClosedHasNoObjects() throws IOException {
        SsgHandle handle = files.open(opener, path, Set.of(FileOption.READ));
        files.close(handle);
        assertThat(handle.take(false, 1, 1)).isNull();
    }

    @Test
    void anOpeningThatFailsLeavesNothingOpen() throws IOException {
        HostFile host = SsgFiles.host(path, true);
        SsgFileObject.Opener readsOnly = (file, write) -> {
            if (write) {
                throw new SsgRefusal("no writing");
            }
            return opener.open(file, write);
        };
        assertThatThrownBy(() -> SsgHandle.open(readsOnly, host, true))
                .isInstanceOf(SsgRefusal.class)
                .hasMessage("no writing");
        assertThat(opened).extracting(seen -> seen.users).containsExactly(0);
        assertThatThrownBy(host::size).isInstanceOf(IOException.class);
        HostFile another = SsgFiles.host(path, false);
        SsgFileObject.Opener opensNothing = (file, write) -> {
            throw new SsgRefusal("not at all");
        };
        assertThatThrownBy(() -> SsgHandle.open(opensNothing, another, false))
                .isInstanceOf(SsgRefusal.class)
                .hasMessage("not at all");
        assertThatThrownBy(another::size).isInstanceOf(IOException.class);
    }

    @Test
    void aHandleForReadingHasTheBlocksOfTheReader() throws IOException {
        SsgHandle handle = files.open(opener, path, Set.of(FileOption.READ));
        assertThat(handle.blockBytes()).isEqualTo(512);
        files.close(handle);
        assertThatThrownBy(() -> handle.host().size()).isInstanceOf(IOException.class);
    }

    @Test
    void anObjectThatIsOpenedForAHandleClosedMeanwhileIsReleased() throws IOException {
        SsgHandle[] handle = new SsgHandle[1];
        SsgFileObject.Opener closing = (file, write) -> {
            if (handle[0] != null) {
                files.close(handle[0]);
            }
            return opener.open(file, write);
        };
        handle[0] = files.open(closing, path, Set.of(FileOption.READ));
        Files.write(path, new byte[16384]);
        handle[0].reach(false, 16384);
        assertThat(opened).hasSize(2).extracting(seen -> seen.users).containsOnly(0);
        assertThat(handle[0].take(false, 1, 1)).isNull();
    }
}

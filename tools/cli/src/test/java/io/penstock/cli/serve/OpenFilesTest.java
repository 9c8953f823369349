// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.ClosedException;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

class OpenFilesTest {

    @TempDir
    Path outside;

    private final AtomicLong clock = new AtomicLong();
    private Path root;
    private Backend backend;
    private ServedDirectory directory;
    private OpenFiles files;

    @BeforeEach
    void open(@TempDir Path folder) throws IOException {
        root = folder.toRealPath();
        backend = Backends.open("host", Options.none());
        directory = new ServedDirectory(root);
        files = new OpenFiles(backend, directory, 2, clock::get);
        for (String name : List.of("a", "b", "c")) {
            Files.writeString(root.resolve(name), name);
        }
    }

    @AfterEach
    void close() {
        files.close();
        backend.close();
    }

    @Test
    void aHotFileIsOpenedOnce() throws IOException {
        OpenFiles.Use first = use("a");
        OpenFiles.Use second = use("a");
        assertThat(second.file()).isSameAs(first.file());
        first.close();
        first.close();
        assertThat(second.file().size())
                .as("closing a use twice does not release another use")
                .isOne();
        second.close();
        assertThat(use("a").file()).as("it stays open between uses").isSameAs(second.file());
    }

    @Test
    void aFileThatWasReplacedIsOpenedAnewAndTheOldOneEndsWithItsUse() throws IOException {
        OpenFiles.Use old = use("a");
        Files.writeString(root.resolve("new"), "longer");
        Files.move(root.resolve("new"), root.resolve("a"), StandardCopyOption.REPLACE_EXISTING);
        OpenFiles.Use fresh = use("a");
        assertThat(fresh.file().size()).isEqualTo(6);
        assertThat(old.file().size()).as("still open, since it is in use").isOne();
        old.close();
        assertThatThrownBy(old.file()::size).isInstanceOf(ClosedException.class);
        assertThat(fresh.file().size()).isEqualTo(6);
    }

    @Test
    void theLeastRecentlyUsedFileIsEvicted() throws IOException {
        OpenFiles.Use a = use("a");
        a.close();
        use("b").close();
        use("a").close();
        OpenFiles.Use c = use("c");
        assertThat(files.size()).isEqualTo(2);
        assertThat(a.file().size()).as("a was used after b").isOne();
        c.close();
    }

    @Test
    void filesInUseAreNotEvictedHoweverManyThereAre() throws IOException {
        List<OpenFiles.Use> uses = List.of(use("a"), use("b"), use("c"));
        assertThat(uses).allSatisfy(use -> assertThat(use.file().size()).isOne());
        uses.forEach(OpenFiles.Use::close);
        assertThat(files.size()).isEqualTo(2);
    }

    @Test
    void idleFilesAreClosed() throws IOException {
        OpenFiles.Use a = use("a");
        OpenFiles.Use b = use("b");
        a.close();
        clock.set(OpenFiles.IDLE.toNanos() - 1);
        files.sweep();
        assertThat(a.file().size()).as("a nanosecond early").isOne();
        clock.incrementAndGet();
        files.sweep();
        assertThatThrownBy(a.file()::size).isInstanceOf(ClosedException.class);
        assertThat(b.file().size()).as("in use").isOne();
        b.close();
    }

    /** As where the application has shut down Reactor's schedulers: nothing would close an idle file later. */
    @Test
    void filesAreClosedWithTheirUseWhereNoTimerTakesThem() throws IOException {
        OpenFiles.Use a = use("a");
        OpenFiles.Use b = use("b");
        Schedulers.onScheduleHook("rejects", task -> {
            throw Exceptions.failWithRejected();
        });
        try {
            a.close();
        } finally {
            Schedulers.resetOnScheduleHook("rejects");
        }
        assertThatThrownBy(a.file()::size).isInstanceOf(ClosedException.class);
        assertThat(b.file().size()).as("in use").isOne();
        b.close();
        assertThat(b.file().size()).as("a timer takes it").isOne();
    }

    @Test
    void afterTheEndAFileLivesAsLongAsItsUse() throws IOException {
        OpenFiles.Use a = use("a");
        files.close();
        assertThat(a.file().size()).isOne();
        a.close();
        assertThatThrownBy(a.file()::size).isInstanceOf(ClosedException.class);
        OpenFiles.Use late = use("b");
        late.close();
        assertThatThrownBy(late.file()::size).isInstanceOf(ClosedException.class);
    }

    @Test
    void aPathThatWasTurnedIntoALinkIsNotServed() throws IOException {
        FoundFile found = find("a");
        Files.delete(root.resolve("a"));
        Files.createSymbolicLink(root.resolve("a"), root.resolve("b"));
        List<StorageFile> opened = new CopyOnWriteArrayList<>();
        try (OpenFiles recorded = new OpenFiles(recording(opened), directory, 2, clock::get);
                Held held = new Held()) {
            assertThatThrownBy(() -> recorded.use(found, held).block()).hasCauseInstanceOf(NoSuchFileException.class);
            assertThat(recorded.size()).isZero();
            assertThat(recorded.uses()).isZero();
        }
        assertThat(opened).singleElement().satisfies(OpenFilesTest::assertClosed);
    }

    /** By someone who may write in the directory, and puts everything back before the second look. */
    @Test
    void aFolderThatIsALinkWhileTheFileIsOpenedIsNotServed() throws IOException {
        Path inside = Files.createDirectory(root.resolve("d"));
        Files.writeString(inside.resolve("a"), "a");
        Files.writeString(outside.resolve("a"), "a");
        FoundFile found = directory.find(new RequestPath(List.of("d", "a"))).orElseThrow();
        Backend swapping = (Backend) Proxy.newProxyInstance(
                Backend.class.getClassLoader(), new Class<?>[] {Backend.class}, (proxy, method, arguments) -> {
                    Path aside = root.resolve("aside");
                    return Mono.fromCallable(() -> {
                                Files.move(inside, aside);
                                return Files.createSymbolicLink(inside, outside);
                            })
                            .then(Mono.defer(() -> backend.openFile((Path) arguments[0], FileOption.READ)))
                            .doOnNext(file -> {
                                try {
                                    Files.delete(inside);
                                    Files.move(aside, inside);
                                } catch (IOException e) {
                                    throw new UncheckedIOException(e);
                                }
                            });
                });
        try (OpenFiles swapped = new OpenFiles(swapping, directory, 2, clock::get);
                Held held = new Held()) {
            assertThatThrownBy(() -> swapped.use(found, held).block()).hasCauseInstanceOf(NoSuchFileException.class);
            assertThat(swapped.size()).isZero();
        }
        try (Held held = new Held()) {
            assertThat(files.use(found, held).block()).as("as it is").isNotNull();
        }
    }

    @Test
    void aRequestThatHasEndedClosesALateResource() throws IOException {
        FoundFile found = find("a");
        List<StorageFile> opened = new CopyOnWriteArrayList<>();
        OpenFiles recorded = new OpenFiles(recording(opened), directory, 2, clock::get);
        Held ended = new Held();
        ended.close();
        assertThat(recorded.use(found, ended).block()).as("not open yet").isNull();
        assertThat(opened).singleElement().satisfies(OpenFilesTest::assertClosed);
        try (Held held = new Held()) {
            assertThat(recorded.use(found, held).block()).isNotNull();
            assertThat(recorded.uses()).isOne();
            assertThat(recorded.use(found, ended).block()).as("open already").isNull();
            assertThat(recorded.uses()).isOne();
        }
        assertThat(recorded.uses()).isZero();
        recorded.close();
        assertThat(opened).hasSize(2).allSatisfy(OpenFilesTest::assertClosed);
    }

    private static void assertClosed(StorageFile file) {
        assertThatThrownBy(file::size).isInstanceOf(ClosedException.class);
    }

    /** Returns the backend, which notes the files that it opens. */
    private Backend recording(List<StorageFile> opened) {
        return (Backend) Proxy.newProxyInstance(
                Backend.class.getClassLoader(), new Class<?>[] {Backend.class}, (proxy, method, arguments) -> {
                    Object answer = method.invoke(backend, arguments);
                    return method.getName().equals("openFile")
                            ? ((Mono<?>) answer).doOnNext(file -> opened.add((StorageFile) file))
                            : answer;
                });
    }

    private FoundFile find(String name) throws IOException {
        return directory.find(new RequestPath(List.of(name))).orElseThrow();
    }

    private OpenFiles.Use use(String name) throws IOException {
        return Objects.requireNonNull(files.use(find(name), new Held()).block());
    }
}

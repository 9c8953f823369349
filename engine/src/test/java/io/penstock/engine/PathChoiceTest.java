// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.Limits;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/** Which of several paths takes a transfer; each is queried once per transfer. */
class PathChoiceTest {

    private static final Duration LONG = Duration.ofSeconds(10);

    @TempDir
    Path folder;

    private final FakeDevice device = new FakeDevice(Limits.none(4096));
    private final List<String> asked = new ArrayList<>();
    private final List<Backend> open = new ArrayList<>();

    /** The device's path, under a name, with a refusal of its own. */
    private IoPath ioPath(String name, String refusal) {
        return (IoPath) Proxy.newProxyInstance(
                IoPath.class.getClassLoader(), new Class<?>[] {IoPath.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("refusal")
                            && List.of(method.getParameterTypes()).contains(Target.class)) { // of a pair
                        asked.add(name);
                        return refusal;
                    }
                    return method.invoke(device, arguments);
                });
    }

    private Transfer read(IoPath... ioPaths) {
        Backend backend =
                Engine.open("fake", device, List.of(ioPaths), Options.none().resolve(CommonOptions.all()));
        open.add(backend);
        Path path = Path.of("model.bin");
        device.files.put(path, device.new MemoryFile(new byte[4096]));
        StorageFile file =
                Objects.requireNonNull(backend.openFile(path, FileOption.READ).block(LONG));
        DeviceBuffer buffer = Objects.requireNonNull(backend.allocate(4096).block(LONG));
        return Transfer.read(file.all(), buffer.all());
    }

    private long submit(Transfer transfer) {
        return Objects.requireNonNull(open.get(0).submit(transfer).block(LONG)).bytes();
    }

    @AfterEach
    void close() {
        open.forEach(Backend::close);
    }

    @Test
    void theFirstPathThatTakesATransferIsCheckedOnceAndNoLaterOne() {
        Transfer read = read(ioPath("first", ""), ioPath("last", ""));
        assertThat(submit(read)).isEqualTo(4096);
        assertThat(asked).containsExactly("first");
        assertThat(open.get(0).counters().fallbacks()).isZero();
    }

    @Test
    void aTransferThatTheFirstPathRefusesGoesToTheLastAndBothAreCheckedOnce() {
        Transfer read = read(ioPath("first", "not today"), ioPath("last", ""));
        assertThat(submit(read)).isEqualTo(4096);
        assertThat(asked).containsExactly("first", "last");
        assertThat(open.get(0).counters().fallbacks()).isOne();
    }

    @Test
    void aTransferThatAllPathsRefuseFailsWithTheReasonOfTheLast() {
        Transfer read = read(ioPath("first", "not today"), ioPath("last", "not ever"));
        PenstockException error = (PenstockException) open.get(0)
                .submit(read)
                .map(completion -> (Throwable) new AssertionError(completion))
                .onErrorResume(Mono::just)
                .block(LONG);
        assertThat(error).isInstanceOf(PermanentStorageException.class).hasMessageContaining("refused: not ever");
        assertThat(asked).containsExactly("first", "last");
    }

    @Test
    void eachReasonToBypassAPathIsLoggedOnceAndThoseOfExplainedTransfersAreNot() {
        IoPath[] ioPaths = {ioPath("first", "not today"), ioPath("last", "")};
        Transfer read = read(ioPaths);
        List<String> logged = new ArrayList<>();
        PathChoice choice = new PathChoice("fake", List.of(ioPaths), new Fallbacks(logged::add));
        choice.explain(read);
        assertThat(logged).isEmpty();
        choice.take(read);
        choice.take(read);
        assertThat(logged)
                .containsExactly(
                        "backend fake does not use HOST for " + read + ": not today; this reason is logged once");
    }

    @Test
    void aPathThatIsNotTakenIsRecorded() throws IOException {
        Transfer read = read(ioPath("first", "not today"), ioPath("last", ""));
        Path events = folder.resolve("events.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("io.penstock.Fallback");
            recording.start();
            submit(read);
            recording.dump(events);
        }
        assertThat(RecordingFile.readAllEvents(events))
                .filteredOn(event -> event.getEventType().getName().equals("io.penstock.Fallback"))
                .singleElement()
                .satisfies(event -> {
                    assertThat(event.getString("backend")).isEqualTo("fake");
                    assertThat(event.getString("transfer")).isEqualTo(read.toString());
                    assertThat(event.getString("path")).isEqualTo("HOST");
                    assertThat(event.getString("reason")).isEqualTo("not today");
                });
    }

    @Test
    void theNumberOfLoggedReasonsIsBounded() {
        Transfer read = read(ioPath("only", ""));
        List<String> logged = new ArrayList<>();
        Fallbacks fallbacks = new Fallbacks(logged::add);
        for (int i = 0; i < 1000; i++) {
            fallbacks.bypassed("fake", TransferPath.DIRECT, i + " bytes", read);
        }
        assertThat(logged).hasSize(Fallbacks.MOST);
        assertThat(logged.get(Fallbacks.MOST - 1)).endsWith("; further reasons are not logged");
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which path a transfer gets, where that depends on the transfer. */
class PathByTransferTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final Path PATH = Path.of("model.bin");

    /** Takes what starts at an even offset of the file. */
    private record EvenPath(FakeDevice device, List<String> missed) implements IoPath {

        @Override
        public String refusal(NativeFile file, long fileOffset, long bytes) {
            return bytes == 13 ? "13 bytes are not ready" : "";
        }

        @Override
        public void skipped(NativeFile file, @Nullable DeviceMemory memory, Transfer transfer, int part) {
            missed.add(transfer.pairLength(part) + " at " + transfer.fileOffset(part) + " of a buffer of "
                    + (memory == null ? 0 : memory.bytes()));
        }

        @Override
        public TransferPath path() {
            return TransferPath.DIRECT;
        }

        @Override
        public Evidence evidence() {
            return Evidence.INFERRED;
        }

        @Override
        public NativeFile open(Path path, Set<FileOption> options) {
            return device.open(path, options);
        }

        @Override
        public String refusal(Transfer transfer) {
            for (int pair = 0; pair < transfer.pairs(); pair++) {
                if (transfer.fileOffset(pair) % 2 != 0) {
                    return "pair " + pair + " is odd";
                }
            }
            return "";
        }

        @Override
        public Object sharing() {
            return this;
        }

        @Override
        public int ioQueues() {
            return 1;
        }

        @Override
        public NativeQueue openQueue() {
            return device.openQueue();
        }

        @Override
        public DeviceMemory allocateBounceBuffer(long bytes) {
            return device.allocateBounceBuffer(bytes);
        }
    }

    @Test
    void aPathMayChooseByWhereATransferIs() {
        FakeDevice device = new FakeDevice(Limits.none(1 << 20));
        device.files.put(PATH, device.new MemoryFile(new byte[100]));
        List<IoPath> ioPaths = List.of(new EvenPath(device, new ArrayList<>()), device);
        try (Backend backend =
                Engine.open("fake", device, ioPaths, Options.none().resolve(CommonOptions.all()))) {
            StorageFile file = Objects.requireNonNull(backend.openFile(PATH).block(LONG));
            DeviceBuffer buffer = Objects.requireNonNull(backend.allocate(100).block(LONG));
            Transfer even = Transfer.read(file.region(2, 10), buffer.region(0, 10));
            Transfer odd = Transfer.read(file.region(3, 10), buffer.region(10, 10));
            assertThat(backend.explain(even).path()).isEqualTo(TransferPath.DIRECT);
            assertThat(backend.explain(odd).path()).isEqualTo(TransferPath.HOST);
            assertThat(backend.explain(odd).whyNotDirect()).isEqualTo("pair 0 is odd");
            assertThat(backend.explain(even.and(file.region(5, 1), buffer.region(20, 1)))
                            .whyNotDirect())
                    .isEqualTo("pair 1 is odd");
            Transfer gather = Transfer.gather(file, new long[] {4, 8}, 4, buffer.region(0, 8));
            assertThat(backend.explain(gather).path()).isEqualTo(TransferPath.DIRECT);
            assertThat(Objects.requireNonNull(backend.submit(odd).block(LONG)).path())
                    .isEqualTo(TransferPath.HOST);
        }
    }

    @Test
    void aPathThatIsNotReadyIsNotifiedOfSkippedTransfersButNotOfExplainedOnes() {
        FakeDevice device = new FakeDevice(Limits.none(1 << 20));
        device.files.put(PATH, device.new MemoryFile(new byte[100]));
        EvenPath even = new EvenPath(device, new ArrayList<>());
        try (Backend backend = Engine.open(
                "fake", device, List.of(even, device), Options.none().resolve(CommonOptions.all()))) {
            StorageFile file = Objects.requireNonNull(backend.openFile(PATH).block(LONG));
            DeviceBuffer buffer = Objects.requireNonNull(backend.allocate(4096).block(LONG));
            Transfer late = Transfer.read(file.region(2, 10), buffer.region(0, 10))
                    .and(file.region(14, 13), buffer.region(20, 13));
            assertThat(backend.explain(late).path()).isEqualTo(TransferPath.HOST);
            assertThat(backend.explain(late).whyNotDirect()).isEqualTo("13 bytes are not ready");
            assertThat(even.missed).isEmpty();
            backend.submit(late).block(LONG);
            assertThat(even.missed).containsExactly("10 at 2 of a buffer of 4096", "13 at 14 of a buffer of 4096");
            backend.submit(Transfer.read(file.region(2, 10), buffer.region(0, 10)))
                    .block(LONG);
            assertThat(even.missed).hasSize(2);
            backend.submit(Transfer.gather(file, new long[] {4, 7, 9}, 4, buffer.region(0, 12)))
                    .block(LONG);
            assertThat(even.missed).as("a gather is reported once").hasSize(3).endsWith("4 at 4 of a buffer of 4096");
        }
    }
}

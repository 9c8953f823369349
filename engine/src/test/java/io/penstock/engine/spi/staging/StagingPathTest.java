// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.CommonOptions;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.FakeBuffer;
import io.penstock.engine.FakeFence;
import io.penstock.engine.FakePoint;
import io.penstock.engine.host.blocking.BlockingBytes;
import io.penstock.engine.kit.memory.HostMemory;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.staging.StagingSettings;
import io.penstock.engine.testing.Requests;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The path through staging buffers of plain memory, to a device whose copies end at once; and what devices need not
 * say.
 */
class StagingPathTest {

    private static final Options OPTIONS = options();

    @TempDir
    Path folder;

    private static Options options() {
        List<Option<?>> all = new ArrayList<>(CommonOptions.all());
        all.addAll(StagingOptions.all());
        return Options.none().with(StagingOptions.BUFFER_BYTES, 65536L).resolve(all);
    }

    /** Its memory is the processor's. */
    private static final class Plain implements StagingDevice {

        @Override
        public ThreadRule threads() {
            return ThreadRule.ONE;
        }

        @Override
        public void copy(Request copy) {
            ByteBuffer staging = bytes(copy.staging(), copy.stagingOffset(), copy.bytes());
            ByteBuffer memory = bytes(copy.memory(), copy.memoryOffset(), copy.bytes());
            (copy.isInward() ? memory : staging).put(copy.isInward() ? staging : memory);
            copy.complete(copy.bytes());
        }

        private static ByteBuffer bytes(DeviceMemory memory, long offset, long length) {
            return ((HostMemory) memory).buffer(offset, (int) length);
        }
    }

    private static StagingPath path(Options options) {
        return new StagingPath(options, "the device does no better") {
            @Override
            protected StagingDevice device() {
                return new Plain();
            }
        };
    }

    private final StagingPath ioPath = path(OPTIONS);

    @Test
    void bytesOfAFileComeToTheDeviceThroughAStagingBuffer() throws IOException {
        Path path = Files.write(folder.resolve("file"), new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
        NativeFile file = ioPath.open(path, Set.of(FileOption.READ));
        DeviceMemory memory = ioPath.allocateBounceBuffer(4096);
        Requests requests = new Requests();
        NativeQueue queue = ioPath.openQueue();
        queue.enqueue(requests.next(0).file(Request.Kind.READ, file, 2, 5).memory(memory, 100));
        while (!requests.hasEnded(0)) {
            queue.turn(-1);
        }
        assertThat(requests.result(0)).isEqualTo(5);
        byte[] read = new byte[6];
        ((HostMemory) memory).buffer(100, 6).get(read);
        assertThat(read).startsWith(3, 4, 5, 6, 7);
        queue.close();
        file.close();
        memory.free();
    }

    @Test
    void thePathDescribesItself() {
        assertThat(ioPath.path()).isEqualTo(TransferPath.STAGED);
        assertThat(ioPath.evidence()).isEqualTo(Evidence.OBSERVED);
        assertThat(ioPath.reason()).isEqualTo("the device does no better");
        assertThat(ioPath.ioQueues()).isOne();
        assertThat(ioPath.sharing()).isSameAs(ioPath);
        assertThat(StagingPath.fact()).isNotEmpty().isEqualTo(BlockingBytes.INSTANCE.bufferFact());
        assertThat(ioPath.awaits(aTransfer(), new FakePoint(false), new FakeFence()))
                .as("unless overridden")
                .isFalse();
    }

    private static Transfer aTransfer() {
        io.penstock.engine.FakeFile file = new io.penstock.engine.FakeFile(10);
        return Transfer.read(file.region(0, 1), new FakeBuffer(1, true).all());
    }

    @Test
    void aDeviceThatEndsItsCopiesAtOnceIsNeverPolled() {
        StagingDevice device = new Plain();
        Request copy = new Requests().next(0);
        assertThatThrownBy(() -> device.poll(copy)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> device.await(copy, 1)).isInstanceOf(IllegalStateException.class);
        DeviceMemory staging = device.allocateStagingBuffer(5000);
        assertThat(staging.bytes()).isGreaterThanOrEqualTo(5000);
        assertThat(staging.hostAddress()).isPositive();
        assertThat(staging.hostAddress() % 4096).isZero();
        staging.free();
    }

    @Test
    void theOptionsOfStagingAreFive() {
        assertThat(StagingOptions.all())
                .containsExactly(
                        StagingOptions.BUFFER_BYTES,
                        StagingOptions.BUFFERS_PER_WORKER,
                        StagingOptions.WORKERS,
                        StagingOptions.SPIN_MICROS,
                        StagingOptions.NUMA);
    }

    @Test
    void aStagingBufferHoldsWholeBlocks() {
        path(StagingSettings.of(4096, 1, 1)).openQueue().close();
        assertThatThrownBy(() -> path(StagingSettings.of(4097, 1, 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("penstock.staging.buffer-bytes must be a multiple of 4096, was 4097");
    }
}

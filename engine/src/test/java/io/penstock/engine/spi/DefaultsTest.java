// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.penstock.Capabilities;
import io.penstock.ImageRegion;
import io.penstock.NativeError;
import io.penstock.engine.FakeDevice;
import io.penstock.engine.FakeFence;
import io.penstock.engine.host.kernel.FileCalls;
import io.penstock.engine.host.kernel.LinuxKernel;
import io.penstock.engine.host.uring.RingOptions;
import io.penstock.engine.kit.memory.HostMemory;
import io.penstock.engine.testing.Requests;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** What drivers, files and requests do unless they say more. */
class DefaultsTest {

    private static final ImageRegion IMAGE = new ImageRegion(
            1,
            0,
            new ImageRegion.Texels(0, 0, 0),
            new ImageRegion.Texels(5, 5, 4),
            new ImageRegion.Layout(0, 1, 5, 25));

    /** A device that can no more than it has to. */
    private static final class Least implements DeviceDriver {

        @Override
        public Capabilities capabilities() {
            throw new UnsupportedOperationException();
        }

        @Override
        public DeviceMemory allocate(long bytes) {
            throw new UnsupportedOperationException();
        }
    }

    @Test
    void aDriverHasNothingThatItDoesNotOffer() {
        DeviceDriver driver = new Least();
        assertThatIllegalArgumentException().isThrownBy(() -> driver.wrap(4096, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> driver.wrap(ByteBuffer.allocateDirect(1)));
        assertThatIllegalArgumentException().isThrownBy(() -> driver.checkImage(IMAGE));
        assertThatIllegalArgumentException().isThrownBy(() -> driver.image(IMAGE));
        assertThatIllegalArgumentException().isThrownBy(() -> driver.fence(5));
        assertThat(driver.makes(() -> 5)).isFalse();
        assertThat(driver.makes(new FakeFence())).isFalse();
        assertThat(driver.isDeviceAddress(4096)).isFalse();
    }

    @Test
    void aFileNeedsWholeBlocksOnlyIfItsLimitsRequireThem() {
        assertThat(Limits.none(4096).isBlockGranular()).isFalse();
        assertThat(new Limits(1, 512, 4096, 4096, false).isBlockGranular()).isTrue();
        assertThat(new Limits(512, 1, 4096, 4096, false).isBlockGranular()).isTrue();
        NativeFile file = new FakeDevice(Limits.none(4096)).new MemoryFile(new byte[1]);
        assertThat(file.readsIntoSlack()).isFalse();
    }

    @Test
    void aWrappedRequestHasTheSameFacts() {
        Requests requests = new Requests();
        NativeFile file = new FakeDevice(Limits.none(4096)).new MemoryFile(new byte[1]);
        HostMemory memory = HostMemory.wrap(ByteBuffer.allocateDirect(64));
        Request first = requests.next(0).file(Request.Kind.WRITE, file, 11, 22).memory(memory, 33);
        Request same = requests.next(1);
        assertThat(same.as(first)).isSameAs(same);
        assertThat(same.kind()).isEqualTo(Request.Kind.WRITE);
        assertThat(same.file()).isSameAs(file);
        assertThat(same.fileOffset()).isEqualTo(11);
        assertThat(same.bytes()).isEqualTo(22);
        assertThat(same.memory()).isSameAs(memory);
        assertThat(same.hostAddress()).isEqualTo(memory.hostAddress() + 33);
    }

    @Test
    void aFailuresNoteFollowsTheNativeResult() {
        NativeError answer = new NativeError("read", 5, "EIO");
        assertThat(new NativeFailure(answer, NativeFailure.Kind.PERMANENT)).hasToString(answer.toString());
        assertThat(new NativeFailure(answer, NativeFailure.Kind.PERMANENT, "of another"))
                .hasToString(answer + "; of another");
    }

    @Test
    void theKernelOfThisProcessMakesItsOwnFileCalls() {
        assertThat(LinuxKernel.INSTANCE.files()).isSameAs(FileCalls.LINUX);
        assertThat(new RingOptions(1, 1).completions()).isOne();
        assertThatIllegalArgumentException().isThrownBy(() -> new RingOptions(0, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> new RingOptions(2, 1));
    }
}

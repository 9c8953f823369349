// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.penstock.BackendUnavailableException;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.ImageRegion;
import io.penstock.ImageRegion.Layout;
import io.penstock.ImageRegion.Texels;
import io.penstock.Options;
import io.penstock.Target;
import io.penstock.TransferPath;
import io.penstock.engine.host.kernel.LinuxKernel;
import io.penstock.engine.host.kernel.ScriptedKernel;
import io.penstock.engine.host.queue.ChannelQueue;
import io.penstock.engine.host.queue.UringQueue;
import io.penstock.engine.host.uring.RingFixture;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.memory.HostMemory;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.options.HostIo;
import io.penstock.engine.options.HostOptions;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostPathTest {
    private final ScriptedKernel kernel = new ScriptedKernel();
    private final Slabs slabs = new Slabs();

    @TempDir
    private Path folder;

    @BeforeAll
    static void onAKernelWithRings() {
        RingFixture.assumeRing();
    }

    @Test
    void theRingIsTheFirstChoice() {
        HostPath ioPath = HostPath.open(Options.none(), slabs, kernel);
        assertThat(ioPath.reason()).isEmpty();
        assertThat(queue(ioPath)).isEqualTo(UringQueue.class);
        assertThat(ioPath.ioQueues()).isBetween(1, 4);
    }

    @Test
    void theFallbackHasAReasonAndARemedy() {
        kernel.setupAnswer = -Errno.EPERM;
        kernel.disabled = 2;
        HostPath ioPath = HostPath.open(Options.none(), slabs, kernel);
        assertThat(ioPath.reason()).contains("FORBIDDEN_BY_SYSCTL", "io_uring_setup -> EPERM (1)");
        assertThat(ioPath.remedy()).contains("io_uring_disabled=0");
        assertThat(queue(ioPath)).isEqualTo(ChannelQueue.class);
        assertThatThrownBy(() -> HostPath.open(Options.none().with(HostOptions.IO, HostIo.URING), slabs, kernel))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("penstock.host.io=uring")
                .hasMessageContaining("EPERM");
    }

    @Test
    void aRefusalWithoutARemedyEndsWithItsReason() {
        kernel.setupAnswer = -5; // EIO
        assertThatThrownBy(() -> HostPath.open(Options.none().with(HostOptions.IO, HostIo.URING), slabs, kernel))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageEndingWith("io_uring_setup -> EIO (5))");
    }

    @Test
    void aRingThatIsRefusedAfterTheProbesIsReplacedByThePool() {
        HostPath ioPath = HostPath.open(Options.none(), slabs, kernel);
        HostPath demanded = HostPath.open(Options.none().with(HostOptions.IO, HostIo.URING), slabs, kernel);
        kernel.setupAnswer = -Errno.ENOMEM;
        BackendUnavailableException refused =
                catchThrowableOfType(BackendUnavailableException.class, ioPath::openQueue);
        assertThat(refused)
                .hasMessageEndingWith("ENOMEM (12); raise ulimit -l (RLIMIT_MEMLOCK), or set penstock.host.io=pool");
        HostPath pool = ioPath.withoutRing(refused);
        assertThat(pool.reason()).contains("LOCKED_MEMORY_LIMIT", "io_uring_setup -> ENOMEM (12)");
        assertThat(pool.remedy()).contains("ulimit -l");
        assertThat(pool.sharing()).isNotEqualTo(ioPath.sharing());
        assertThat(queue(pool)).isEqualTo(ChannelQueue.class);
        assertThatThrownBy(() -> demanded.withoutRing(refused)).isSameAs(refused);
        assertThatThrownBy(() -> pool.withoutRing(refused)).isSameAs(refused);
        kernel.setupAnswer = -Errno.EPERM;
        BackendUnavailableException other = catchThrowableOfType(BackendUnavailableException.class, ioPath::openQueue);
        assertThatThrownBy(() -> ioPath.withoutRing(other)).isSameAs(other);
        assertThat(other).hasMessageEndingWith("EPERM (1)");
    }

    @Test
    void aChosenPoolNeedsNoExcuse() {
        HostPath ioPath = HostPath.open(Options.none().with(HostOptions.IO, HostIo.POOL), slabs, kernel);
        assertThat(ioPath.reason()).isEmpty();
        assertThat(queue(ioPath)).isEqualTo(ChannelQueue.class);
        assertThat(kernel.opened).isZero();
    }

    @Test
    void pathsOfOneKindShareQueues() {
        HostPath ioPath = HostPath.open(Options.none(), slabs, kernel);
        HostPath pool = HostPath.open(Options.none().with(HostOptions.IO, HostIo.POOL), slabs, kernel);
        assertThat(ioPath.sharing())
                .isEqualTo(HostPath.open(Options.none(), new Slabs(), kernel).sharing())
                .isNotEqualTo(pool.sharing());
        assertThat(HostPath.open(Options.none().with(HostOptions.QUEUES, 7), slabs, kernel)
                        .ioQueues())
                .isEqualTo(7);
    }

    @Test
    void theProbeReportsTheChosenDevice() {
        assertThat(HostPath.probe(Options.none())).satisfies(found -> {
            assertThat(found.available()).isTrue();
            assertThat(found.reason()).isEqualTo("io_uring");
        });
        assertThat(HostPath.probe(Options.none().with(HostOptions.IO, HostIo.URING))
                        .available())
                .isTrue();
        assertThat(HostPath.probe(Options.none().with(HostOptions.IO, HostIo.POOL))
                        .reason())
                .isEqualTo("blocking calls on threads, as set by penstock.host.io");
    }

    @Test
    void filesOfTheOtherQueueAndMemoryOfADeviceAreRefused() throws IOException {
        HostPath ring = HostPath.open(Options.none(), slabs, LinuxKernel.INSTANCE);
        HostPath pool = HostPath.open(Options.none().with(HostOptions.IO, HostIo.POOL), slabs, kernel);
        assertThat(ring.path()).isEqualTo(TransferPath.HOST);
        assertThat(ring.evidence()).isEqualTo(Evidence.OBSERVED);
        Path path = Files.createFile(folder.resolve("file"));
        NativeFile ofRing = ring.open(path, Set.of(FileOption.READ));
        NativeFile ofPool = pool.open(path, Set.of(FileOption.READ));
        DeviceMemory memory = ring.allocateBounceBuffer(4096);
        HostMemory unreachable = HostMemory.wrap(0, 1);
        Target target = new ImageRegion(1, 0, new Texels(0, 0, 0), new Texels(1, 1, 1), new Layout(0, 1, 1, 1));
        assertThat(ring.refusal(ofRing, target, memory)).isEmpty();
        assertThat(pool.refusal(ofPool, target, memory)).isEmpty();
        assertThat(ring.refusal(ofPool, target, memory)).contains("another path");
        assertThat(pool.refusal(ofRing, target, memory)).contains("another path");
        assertThat(ring.refusal(ofRing, target, unreachable)).contains("not host memory");
        assertThat(ring.refusal(ofRing, target, null)).contains("not host memory");
        memory.free();
        ofRing.close();
        ofPool.close();
    }

    private static Class<?> queue(HostPath ioPath) {
        NativeQueue queue = ioPath.openQueue();
        queue.close();
        return queue.getClass();
    }
}

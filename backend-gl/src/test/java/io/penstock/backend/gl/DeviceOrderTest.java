// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import static io.penstock.backend.gl.GlFixture.await;
import static io.penstock.backend.gl.GlFixture.content;
import static io.penstock.backend.gl.GlFixture.filled;
import static io.penstock.backend.gl.GlFixture.get;
import static io.penstock.backend.gl.GlFixture.move;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.FenceSupport;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import io.penstock.backend.gl.options.GlPath;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** Transfers and the application's drawing in one order. */
class DeviceOrderTest {

    private static final int OLD = 50;
    private static final int NEW = 200;

    @TempDir
    Path folder;

    private GlFixture fixture;
    private Application application;

    @BeforeAll
    static void require() {
        GlSubject.require();
    }

    @BeforeEach
    void start() {
        fixture = new GlFixture(folder);
        application = new Application();
    }

    @AfterEach
    void nothingIsLeft() {
        fixture.close();
        application.close();
    }

    private Backend backend(GlPath path) {
        return fixture.keep(GlBackends.sharing(application.display(), application.context(), GlFixture.options(path)));
    }

    @ParameterizedTest
    @EnumSource(names = {"HOST", "STAGED"})
    void aSlowShaderReadsWhatTheNextTransferOverwritesOnlyBehindItsFence(GlPath path) {
        Backend backend = backend(path);
        assertThat(backend.capabilities().fences()).isEqualTo(FenceSupport.AFTER_STAGING);
        DeviceBuffer buffer = fixture.buffer(backend, 4096);
        StorageFile old = fixture.open(backend, "old", filled(4096, OLD));
        StorageFile next = fixture.open(backend, "next", filled(4096, NEW));
        DeviceFence arrived = fixture.keep(get(backend.enqueue(Transfer.read(old.all(), buffer.all()))));
        application.content(arrived.nativeHandle(), buffer.nativeHandle(), 1);

        long drawn = application.drawSlowly(buffer.nativeHandle());
        DeviceFence drawing = fixture.keep(backend.fence(drawn));
        move(backend, Transfer.read(next.all(), buffer.all()).after(drawing));
        assertThat(application.seen(application.picture()))
                .as("what the shader saw")
                .containsExactly(OLD);
        assertThat(content(buffer)).isEqualTo(filled(4096, NEW));

        StepVerifier.create(drawing.signalled()).expectComplete().verify(GlFixture.LONG);
        assertThat(drawing.isSignalled()).isTrue();
        StepVerifier.create(drawing.outcome()).expectComplete().verify(GlFixture.LONG);
        application.deleteFence(drawn);
    }

    @ParameterizedTest
    @EnumSource(names = {"HOST", "STAGED"})
    void aSlowShaderReadsItsChunkWhileTheRingContinuesAndNeverReadsTheNextData(GlPath path) {
        int chunk = 4096;
        byte[] bytes = new byte[5 * chunk];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (40 + i / chunk);
        }
        Backend backend = backend(path);
        List<Integer> pictures = new CopyOnWriteArrayList<>();
        List<Long> fences = new CopyOnWriteArrayList<>();
        StreamPlan plan =
                StreamPlan.of(fixture.file("data", bytes)).chunkBytes(chunk).depth(2);
        Mono<Long> all = backend.stream(plan, c -> {
                    long drawn = application.drawSlowly(c.region().buffer().nativeHandle());
                    fences.add(drawn);
                    pictures.add(application.picture());
                    return c.releaseAfter(backend.fence(drawn)).thenReturn(c.index());
                })
                .count();
        assertThat(get(all)).isEqualTo(5);
        for (int i = 0; i < 5; i++) {
            assertThat(application.seen(pictures.get(i))).as("of chunk %d", i).containsExactly(40 + i);
        }
        fences.forEach(application::deleteFence);
    }

    @ParameterizedTest
    @EnumSource(names = {"HOST", "STAGED"})
    void otherTransfersDoNotWaitForAFenceThatIsNotTheirs(GlPath path) {
        Backend backend = backend(path);
        DeviceBuffer buffer = fixture.buffer(backend, 4096);
        StorageFile file = fixture.open(backend, "data", filled(4096, NEW));
        long drawn = application.drawSlowly(buffer.nativeHandle());
        DeviceFence drawing = fixture.keep(backend.fence(drawn));
        Mono<Completion> write = backend.submit(
                        Transfer.read(file.all(), buffer.all()).after(drawing))
                .cache();
        write.subscribe();
        DeviceBuffer other = fixture.buffer(backend, 4096);
        assertThat(move(backend, Transfer.read(file.all(), other.all())).bytes())
                .isEqualTo(4096);
        assertThat(get(write).bytes()).isEqualTo(4096);
        application.deleteFence(drawn);
    }

    @ParameterizedTest
    @EnumSource(names = {"HOST", "STAGED"})
    void aFenceOfATransferOrdersTheNextTransfer(GlPath path) {
        Backend backend = backend(path);
        DeviceBuffer buffer = fixture.buffer(backend, 3 << 20);
        DeviceFence before = null;
        for (int i = 1; i <= 8; i++) {
            StorageFile file = fixture.open(backend, "file" + i, filled(3 << 20, i));
            Transfer read = Transfer.read(file.all(), buffer.all());
            before = fixture.keep(get(backend.enqueue(before == null ? read : read.after(before))));
        }
        get(before.outcome());
        assertThat(content(buffer)).isEqualTo(filled(3 << 20, 8));
    }

    @ParameterizedTest
    @EnumSource(names = {"HOST", "STAGED"})
    void aFenceThatTheApplicationDeletesTooEarlyHangsNoTransfer(GlPath path) {
        Backend backend = backend(path);
        DeviceBuffer buffer = fixture.buffer(backend, 4096);
        StorageFile file = fixture.open(backend, "data", filled(4096, NEW));
        long drawn = application.drawSlowly(buffer.nativeHandle());
        DeviceFence drawing = fixture.keep(backend.fence(drawn));
        application.deleteFence(drawn);
        Mono<Completion> read =
                backend.submit(Transfer.read(file.all(), buffer.all()).after(drawing));
        // It ends, whether the deletion was seen by a look, by the device's wait, or not at all.
        assertThat(read.materialize().block(GlFixture.LONG)).isNotNull();
        assertThat(move(backend, Transfer.read(file.all(), buffer.all())).bytes())
                .isEqualTo(4096);
    }

    @ParameterizedTest
    @EnumSource(names = {"HOST", "STAGED"})
    void onlyFencesAreImported(GlPath path) {
        Backend backend = backend(path);
        for (long none : new long[] {0, 0x1234}) {
            assertThatThrownBy(() -> backend.fence(none))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("the GLsync 0x" + Long.toHexString(none) + " is not valid");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"HOST", "STAGED"})
    void aFenceThatIsNotAwaitedIsSignalledToo(GlPath path) {
        Backend backend = backend(path);
        long drawn = application.drawSlowly(fixture.buffer(backend, 4096).nativeHandle());
        DeviceFence drawing = fixture.keep(backend.fence(drawn));
        await(drawing::isSignalled);
        application.deleteFence(drawn);
        assertThat(drawing.isSignalled())
                .as("asked again after the application has deleted it")
                .isTrue();
    }
}

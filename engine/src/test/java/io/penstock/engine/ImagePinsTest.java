// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import static io.penstock.engine.testing.BackendFixture.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.FileOption;
import io.penstock.ImageRegion;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.spi.Limits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Images are held from the subscription to the native end, as buffers are (rule 201). */
class ImagePinsTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final Path PATH = Path.of("model.bin");

    private final FakeDevice device = new FakeDevice(Limits.none(1 << 20));
    private Backend backend;
    private StorageFile file;

    @BeforeEach
    void open() {
        device.hasImages = true;
        backend = Engine.open("fake", device, List.of(device), Options.none().resolve(CommonOptions.all()));
        device.files.put(PATH, device.new MemoryFile(new byte[100]));
        file = Objects.requireNonNull(backend.openFile(PATH, FileOption.READ).block(LONG));
    }

    @AfterEach
    void nothingIsLeft() {
        backend.close();
        assertThat(device.freed).hasValue(device.allocated.get());
    }

    private static ImageRegion image(int level) {
        ImageRegion.Texels size = new ImageRegion.Texels(10, 10, 1);
        return new ImageRegion(1, level, new ImageRegion.Texels(0, 0, 0), size, new ImageRegion.Layout(0, 1, 10, 100));
    }

    @Test
    void required_201_anImageIsHeldUntilTheNativeEndOfACancelledRead() throws InterruptedException {
        Mono<?> read = backend.submit(Transfer.read(file.all(), image(0)));
        assertThat(device.allocated).as("held before the subscription").hasValue(0);
        device.queue.hold = true;
        Disposable subscription = read.subscribe();
        await(() -> device.queue.held.size() == 1);
        subscription.dispose();
        await(() -> !device.queue.cancelled.isEmpty());
        assertThat(device.allocated).hasValue(1);
        assertThat(device.freed).as("let go while the device may still write").hasValue(0);
        device.queue.releaseAll();
        await(() -> device.freed.get() == 1);
    }

    @Test
    void anUnknownImageFailsTheTransferAndTheOthersAreUnpinned() {
        device.imageRefusal = new IndexOutOfBoundsException("no level 1");
        Transfer both = Transfer.read(file.all(), image(0)).and(file.all(), image(1));
        assertThatThrownBy(() -> backend.submit(both).block(LONG)).isSameAs(device.imageRefusal);
        assertThat(device.allocated).hasValue(1);
        assertThat(device.freed).hasValue(1);
        assertThat(Objects.requireNonNull(backend.submit(Transfer.read(file.all(), image(0)))
                                .block(LONG))
                        .bytes())
                .isEqualTo(100);
    }
}

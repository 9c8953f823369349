// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static io.penstock.backend.opencl.OpenClFixture.LONG;
import static io.penstock.backend.opencl.OpenClFixture.content;
import static io.penstock.backend.opencl.OpenClFixture.random;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;

/** The way straight into mapped buffers, and what a driver makes of it. */
class MapPathTest {

    @TempDir
    Path folder;

    private OpenClFixture device;

    @BeforeAll
    static void require() {
        OpenCls.require();
    }

    @BeforeEach
    void start() {
        device = new OpenClFixture(folder);
    }

    @AfterEach
    void end() {
        device.close();
    }

    /** PoCL finds a map by its address alone, and would unmap one that it has not made yet. */
    @Test
    void transfersOfTheSameBytesMapThemOneAfterAnother() {
        byte[] bytes = random(4096, 1);
        Backend backend = device.backend(OpenClPath.MAP);
        StorageFile file = device.open(backend, device.file("data", bytes), FileOption.READ);
        DeviceBuffer target = device.buffer(backend, 4096);
        Transfer read = Transfer.read(file.all(), target.all());
        Flux.range(0, 5_000).flatMap(i -> backend.submit(read), 200).then().block(LONG);
        assertThat(content(target)).isEqualTo(bytes);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.backend.opencl.fakes.FreshSsg;
import io.penstock.backend.opencl.fakes.PcieDevice;
import io.penstock.backend.opencl.gma.DirectGma;
import io.penstock.engine.testing.BackendFixture;
import io.penstock.engine.testing.SampleProgram;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;

/** The program OnPciBus of {@code samples/programs}, on the fake of AMD's driver. */
@ExtendWith(FreshSsg.class)
class SampleTest {

    private static final int FRAME = 8192;
    private static final int FRAMES = 3;

    @Test
    void framesOfACameraAreStoredOneAfterTheOther(@TempDir Path folder) throws Exception {
        SampleProgram program = SampleProgram.of("OnPciBus", folder, DirectGma.class);
        byte[] expected = BackendFixture.random(FRAMES * FRAME, 1);
        Path path = SsgFixture.write("frames", new byte[0]);
        SsgFixture ssg = SsgFixture.open(SsgFixture.OPTIONS);
        try (DirectGma bus = DirectGma.open(SsgFixture.OPTIONS);
                StorageFile file = ssg.file(path, FileOption.READ, FileOption.WRITE)) {
            Object camera = program.implementing("Camera", (self, shoot, arguments) -> {
                int number = (int) arguments[2];
                byte[] frame = Arrays.copyOfRange(expected, (number - 1) * FRAME, number * FRAME);
                PcieDevice.write((long) arguments[0], frame);
                PcieDevice.signal((long) arguments[1], number);
                return null;
            });
            Flux<?> frames = (Flux<?>) program.call("record", bus, ssg.backend(), camera, FRAMES, (long) FRAME, file);
            assertThat(frames.collectList().block(SsgFixture.LONG)).hasSize(FRAMES);
        } finally {
            ssg.close();
        }
        assertThat(Files.readAllBytes(path)).isEqualTo(expected);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.gl.fence.GlPoint;
import io.penstock.backend.gl.memory.GlMemory;
import io.penstock.backend.gl.memory.GlStagingBuffer;
import io.penstock.backend.gl.options.GlOptions;
import io.penstock.backend.gl.options.GlPath;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.testing.BackendFixture;
import java.nio.file.Path;
import java.util.Arrays;

/** Backends, files of known content, and the ends of all of them. */
public final class GlFixture extends BackendFixture {

    private final Path folder;
    private final long memory = LiveObjects.count(GlMemory.class);
    private final long stagingBuffers = LiveObjects.count(GlStagingBuffer.class);
    private final long points = LiveObjects.count(GlPoint.class);

    GlFixture(Path folder) {
        super(folder);
        GlSubject.require();
        this.folder = folder;
    }

    static Options options(GlPath path) {
        return Options.none().with(GlOptions.PATH, path);
    }

    static byte[] filled(int bytes, int value) {
        byte[] content = new byte[bytes];
        Arrays.fill(content, (byte) value);
        return content;
    }

    StorageFile open(Backend backend, String name, byte[] content) {
        return keep(get(backend.openFile(file(name, content), FileOption.READ)));
    }

    /** Checks that a backend moves bytes both ways. */
    void assertWorks(Backend backend) {
        byte[] bytes = random(300_000, 7);
        StorageFile file = open(backend, "works", bytes);
        DeviceBuffer buffer = buffer(backend, bytes.length);
        assertThat(move(backend, Transfer.read(file.all(), buffer.all())).bytes())
                .isEqualTo(bytes.length);
        assertThat(content(buffer)).isEqualTo(bytes);
        Path copy = folder.resolve("copy");
        StorageFile out = keep(get(backend.openFile(copy, FileOption.WRITE, FileOption.CREATE)));
        move(backend, Transfer.write(buffer.all(), out.region(0, bytes.length)));
        assertThat(copy).hasBinaryContent(bytes);
    }

    /** Makes calls of the context's thread, so that what it could see has been seen. */
    void letOthersAllocate(Backend backend) {
        for (int round = 0; round < 4; round++) {
            get(backend.allocate(4096)).close();
        }
    }

    /** Closes everything, the last first, and looks for what was left. */
    @Override
    public void close() {
        super.close();
        await(() -> LiveObjects.count(GlMemory.class) == memory
                && LiveObjects.count(GlStagingBuffer.class) == stagingBuffers
                && LiveObjects.count(GlPoint.class) == points);
        await(() -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().equals("penstock-gl")));
    }
}

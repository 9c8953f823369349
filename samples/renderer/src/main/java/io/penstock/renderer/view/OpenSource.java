// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import io.penstock.Backend;
import io.penstock.renderer.Composer;
import java.util.HashSet;
import java.util.Set;

/**
 * A source that is open: the composer that draws from it, the viewers that use it, and the meter of its backend.
 *
 * <p><b>Threading:</b> {@link #meter} and {@link #backend} are for any thread, the rest for the thread of the
 * {@link FrameLoop}.
 */
final class OpenSource implements AutoCloseable {

    final Set<Viewer> users = new HashSet<>();
    private final Composer composer;
    private final StreamMeter meter = new StreamMeter();

    private OpenSource(Composer composer) {
        this.composer = composer;
        var unused = composer.backend().listen(meter); // as long as the backend
    }

    /** Opens a source; fails as its backend does. */
    static OpenSource open(VoxelSource source) {
        return new OpenSource(Composer.open(source.backend(), source.options()));
    }

    Composer composer() {
        return composer;
    }

    Backend backend() {
        return composer.backend();
    }

    StreamMeter meter() {
        return meter;
    }

    @Override
    public void close() {
        composer.close();
    }
}

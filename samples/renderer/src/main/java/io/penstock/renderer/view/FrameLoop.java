// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import io.penstock.renderer.Composer;
import io.penstock.renderer.Shot;
import io.penstock.renderer.VolumeReader;
import io.penstock.renderer.picture.Jpeg;
import io.penstock.renderer.volume.BadVolumeException;
import io.penstock.renderer.volume.NiftiFile;
import io.penstock.renderer.volume.Scene;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;

/**
 * Draws the frames of all viewers, one at a time and in the order of their requests, on one thread. So the budget
 * bounds all frames together, whatever the number of viewers, and no viewer starves.
 *
 * <p>A source is opened for the first frame that needs it, shared, and closed once no viewer uses it, or after a
 * failure that the volume did not cause.
 *
 * <p><b>Threading:</b> any thread.
 */
final class FrameLoop implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(FrameLoop.class);
    private static final long CLOSE_SECONDS = 30;

    private final NiftiFile volume;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(FrameLoop::thread);
    private final Map<VoxelSource, OpenSource> open = new HashMap<>(); // used by the thread, as is the next
    private @Nullable Scene scene;
    private final LongAdder frames = new LongAdder();

    /**
     * Prepares frames of a volume.
     *
     * @param volume stays open as long as the loop
     */
    FrameLoop(NiftiFile volume) {
        this.volume = volume;
    }

    private static Thread thread(Runnable frames) {
        Thread thread = new Thread(frames, "penstock-view");
        thread.setDaemon(true);
        return thread;
    }

    /** Returns the volume. */
    NiftiFile volume() {
        return volume;
    }

    /**
     * Draws a frame.
     *
     * <p><b>Result:</b> the frame, on the loop's thread, once the frames requested before it are drawn.
     *
     * <p><b>Errors:</b> the error of opening or reading, after which the source is closed; {@link BadVolumeException}
     * if the budget is too small; {@link CancellationException} if the viewer has left.
     *
     * <p><b>Cancellation:</b> drops the result. {@link Viewer#leave} ends the drawing.
     */
    Mono<Frame> draw(Viewer viewer, FrameRequest request) {
        return Mono.create(sink -> {
            try {
                thread.execute(() -> {
                    try {
                        sink.success(frame(viewer, request));
                    } catch (IOException | RuntimeException | Error e) {
                        sink.error(e);
                    }
                });
            } catch (RejectedExecutionException e) {
                sink.error(new CancellationException("the server is closing"));
            }
        });
    }

    /** Releases the source of a viewer that has left, behind the frame that is being drawn. */
    void release(Viewer viewer) {
        viewer.leave();
        try {
            thread.execute(() -> use(viewer, null));
        } catch (RejectedExecutionException e) {
            // close() closes all sources
        }
    }

    private Frame frame(Viewer viewer, FrameRequest request) throws IOException {
        check(viewer);
        long start = System.nanoTime();
        volume.checkSame(); // each frame opens the file by its name
        OpenSource source = source(viewer, request.source());
        try {
            VolumeReader reader = new VolumeReader(source.backend(), volume, request.budget());
            Composer.Drawn drawn =
                    source.composer().draw(reader, shot(reader, viewer, request), (bytes, path) -> check(viewer));
            byte[] jpeg = Jpeg.of(drawn.picture());
            String device = source.backend().capabilities().device();
            frames.increment();
            return new Frame(jpeg, request.display().side(), System.nanoTime() - start, drawn.pass(), device);
        } catch (IOException | RuntimeException | Error e) {
            Throwable cause = Exceptions.unwrap(e);
            if (!(cause instanceof BadVolumeException || cause instanceof CancellationException)) {
                fail(request.source(), e);
            }
            throw e;
        }
    }

    private static void check(Viewer viewer) {
        if (viewer.isGone()) {
            throw new CancellationException("the viewer has left");
        }
    }

    private Shot shot(VolumeReader reader, Viewer viewer, FrameRequest request) throws BadVolumeException {
        if (!request.view().turns()) {
            return Shot.along(volume.header(), request.view(), request.display());
        }
        Scene surveyed = scene;
        if (surveyed == null) {
            surveyed = reader.survey(name -> (bytes, path) -> check(viewer));
            scene = surveyed;
        }
        return Shot.of(surveyed.displayed(request.display()), request.view(), request.camera());
    }

    private OpenSource source(Viewer viewer, VoxelSource source) {
        OpenSource opened = open.get(source);
        if (opened == null) {
            use(viewer, null); // before the other is opened: two backends would need twice the memory
            opened = OpenSource.open(source);
            open.put(source, opened);
        }
        use(viewer, opened);
        return opened;
    }

    /** Makes a viewer a user of that source only, and closes a source without users. */
    private void use(Viewer viewer, @Nullable OpenSource source) {
        OpenSource before = viewer.source;
        if (before == source) {
            return;
        }
        viewer.source = source;
        if (source != null) {
            source.users.add(viewer);
        }
        if (before != null
                && before.users.remove(viewer)
                && before.users.isEmpty()
                && open.values().remove(before)) {
            close(before);
        }
    }

    private void fail(VoxelSource source, Throwable cause) {
        LOG.debug("frame failed, backend {} is closed", source.backend(), cause);
        OpenSource failed = open.remove(source);
        if (failed != null) {
            failed.users.forEach(viewer -> viewer.source = null);
            close(failed);
        }
    }

    private static void close(OpenSource source) {
        try {
            source.close();
        } catch (RuntimeException e) {
            LOG.warn("backend {} cannot be closed", source.backend().name(), e);
        }
    }

    /** Returns how many frames have been drawn. */
    long frames() {
        return frames.sum();
    }

    /** Returns how many sources are open, behind the frame that is being drawn. */
    int openSources() {
        return Mono.<Integer>create(sink -> thread.execute(() -> sink.success(open.size())))
                .blockOptional()
                .orElseThrow();
    }

    /** Closes all sources, behind the frame that is being drawn: viewers have left. A second call does nothing. */
    @Override
    public synchronized void close() {
        if (thread.isShutdown()) {
            return;
        }
        thread.execute(() -> {
            open.values().forEach(FrameLoop::close);
            open.clear();
        });
        thread.shutdown();
        try {
            if (!thread.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("a frame has not ended after {} s: its backend stays open", CLOSE_SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * A frame that was drawn.
     *
     * @param jpeg the picture
     * @param side its width and height in pixels
     * @param nanos how long it took, from the request's turn to the encoded picture
     * @param pass the pass over the volume that it was drawn from
     * @param device the name of the device that the voxels went to
     */
    @SuppressWarnings("ArrayRecordComponent") // handed over, not copied
    record Frame(byte[] jpeg, int side, long nanos, VolumeReader.Pass pass, String device) {}
}

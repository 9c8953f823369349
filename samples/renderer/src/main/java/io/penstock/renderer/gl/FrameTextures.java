// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.gl;

import io.penstock.Completion;
import io.penstock.ImageRegion;
import io.penstock.ImageRegion.Layout;
import io.penstock.ImageRegion.Texels;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.renderer.gl.ffi.GlCalls;
import io.penstock.renderer.video.FrameFormat.Plane;
import io.penstock.renderer.video.Playback;
import java.io.EOFException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SynchronousSink;

/**
 * The textures of a video: some for frames being fetched, one texture per plane, and the textures of the screen, to
 * which a frame is copied when it is shown.
 *
 * <p><b>Ownership:</b> close it after the playback has terminated, and before the application.
 */
public final class FrameTextures implements Playback.Stage, AutoCloseable {

    private final GlApplication application;
    private final StorageFile file;
    private final List<Plane> planes;
    private final long frameBytes;
    private final List<Place> places = new ArrayList<>();
    private final List<Integer> screen = new ArrayList<>();
    private volatile @Nullable TransferPath path;

    /** The textures of a frame, and their use. */
    private record Place(List<Integer> textures, TextureUse use) {}

    /**
     * Creates the textures.
     *
     * @param count the number of frames to allocate textures for
     * @throws IllegalStateException if OpenGL does not support that size
     */
    public FrameTextures(GlApplication application, StorageFile file, List<Plane> planes, int count) {
        this.application = application;
        this.file = file;
        this.planes = planes;
        this.frameBytes = planes.stream().mapToLong(Plane::bytes).sum();
        try {
            for (int i = 0; i < count; i++) {
                Place place = new Place(new ArrayList<>(), new TextureUse(application));
                places.add(place);
                make(place.textures);
            }
            make(screen);
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private void make(List<Integer> textures) {
        application.run(() -> {
            for (Plane plane : planes) {
                int[] name = new int[1];
                GlCalls.glCreateTextures(GlCalls.GL_TEXTURE_2D, 1, name);
                textures.add(name[0]);
                GlCalls.glTextureStorage2D(name[0], 1, format(plane), plane.width(), plane.height());
                GlApplication.check("glTextureStorage2D of " + plane.width() + " by " + plane.height() + " texels");
            }
        });
    }

    private static int format(Plane plane) {
        return plane.texelBytes() == 3 ? GlCalls.GL_RGB8 : GlCalls.GL_R8;
    }

    @Override
    public Mono<Void> fetch(long frame, @Nullable Duration limit) {
        Place place = place(frame);
        Transfer all = transfer(place, 0, frame);
        for (int i = 1; i < planes.size(); i++) {
            all = all.and(List.of(transfer(place, i, frame)));
        }
        all = place.use.before(all);
        return application
                .backend()
                .submit(limit == null ? all : all.deadline(limit))
                .handle((Completion done, SynchronousSink<Void> next) -> {
                    path = done.path();
                    if (done.bytes() != frameBytes) {
                        next.error(new EOFException("the video was truncated while it was played"));
                    }
                });
    }

    private Place place(long frame) {
        return places.get((int) (frame % places.size()));
    }

    private Transfer transfer(Place place, int index, long frame) {
        Plane plane = planes.get(index);
        long rowBytes = (long) plane.width() * plane.texelBytes();
        ImageRegion all = new ImageRegion(
                place.textures.get(index),
                0,
                new Texels(0, 0, 0),
                new Texels(plane.width(), plane.height(), 1),
                new Layout(format(plane), plane.texelBytes(), rowBytes, plane.bytes()));
        return Transfer.read(file.region(frame * frameBytes + plane.offset(), plane.bytes()), all);
    }

    @Override
    public Mono<Void> show(long frame) {
        return Mono.<Void>fromRunnable(() -> copyToScreen(place(frame))).subscribeOn(application.scheduler());
    }

    private void copyToScreen(Place place) {
        place.use.forget(); // the transfer that waited for it has completed: this frame is here
        for (int i = 0; i < planes.size(); i++) {
            Plane plane = planes.get(i);
            GlCalls.glCopyImageSubData(
                    place.textures.get(i),
                    GlCalls.GL_TEXTURE_2D,
                    0,
                    0,
                    0,
                    0,
                    screen.get(i),
                    GlCalls.GL_TEXTURE_2D,
                    0,
                    0,
                    0,
                    0,
                    plane.width(),
                    plane.height(),
                    1);
        }
        GlApplication.check("glCopyImageSubData");
        place.use.begun();
    }

    /** Returns the textures of the screen, one per plane. */
    public List<Integer> screen() {
        return List.copyOf(screen);
    }

    /** Returns the path that frames took; null before the first. */
    public @Nullable TransferPath path() {
        return path;
    }

    @Override
    public void close() {
        application.run(() -> {
            GlCalls.glFinish();
            for (Place place : places) {
                place.use.forget();
                place.textures.forEach(FrameTextures::delete);
            }
            screen.forEach(FrameTextures::delete);
            places.clear();
            screen.clear();
        });
    }

    private static void delete(int texture) {
        GlCalls.glDeleteTextures(1, new int[] {texture});
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.ssg;

import io.penstock.Options;
import io.penstock.Target;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.context.GlFailure;
import io.penstock.backend.gl.ffi.Egl;
import io.penstock.backend.gl.ffi.Ssg;
import io.penstock.backend.gl.ffi.Wgl;
import io.penstock.backend.gl.memory.GlMemory;
import io.penstock.backend.gl.options.GlOptions;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.kit.ssg.SsgCommands;
import io.penstock.engine.kit.ssg.SsgDevice;
import io.penstock.engine.kit.ssg.SsgFileObject;
import io.penstock.engine.kit.ssg.SsgProof;
import io.penstock.engine.kit.ssg.SsgQueue;
import io.penstock.engine.kit.ssg.SsgRefusal;
import io.penstock.engine.kit.ssg.SsgSizes;
import io.penstock.engine.kit.ssg.SsgTexts;
import io.penstock.engine.spi.DeviceMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** AMD's extension in one context; the disk can access buffers in local visible memory. */
public final class GlSsg extends SsgDevice<GlSsgCommand> {

    private static final SsgTexts TEXTS = new SsgTexts(
            "counts are computed, since the driver reports none, nor an error of a transfer that has started",
            "the buffer is not in local visible memory: made without GL_MAP_READ_BIT|GL_MAP_WRITE_BIT|"
                    + "GL_MAP_PERSISTENT_BIT, or with GL_CLIENT_STORAGE_BIT",
            "visible memory",
            "", // there is one in any case
            "buffers of this backend within " + GlOptions.VISIBLE_BYTES
                    + ", or made with GL_MAP_READ_BIT|GL_MAP_WRITE_BIT|GL_MAP_PERSISTENT_BIT");

    private final GlContext context;
    private final SsgTokens tokens;
    private final long visibleBytes;
    private boolean hasRing;

    private GlSsg(GlContext context, Options options) {
        super(sizes(options), TEXTS);
        this.context = context;
        this.tokens = SsgTokens.of(options);
        this.visibleBytes = options.get(GlOptions.VISIBLE_BYTES);
        context.join();
    }

    private static SsgSizes sizes(Options options) {
        // One buffer in any case: without it no edge can be moved.
        long ring = Math.max(options.get(GlOptions.SSG_RING_BYTES), options.get(GlOptions.SSG_SEGMENT_BYTES));
        return SsgSizes.of(options, GlOptions.SSG_SEGMENT_BYTES, ring);
    }

    /**
     * Allocates the ring, and becomes a user of the context.
     *
     * @throws io.penstock.PenstockException with the driver's error
     */
    public static GlSsg open(GlContext context, Options options) {
        GlSsg ssg = new GlSsg(context, options);
        ssg.fillRing();
        return ssg;
    }

    /** Probes the extension, on a context's thread; without a context only if a token is missing. */
    public static SsgProof proof(GlContext context, Options options) {
        SsgTokens tokens = SsgTokens.of(options);
        String missing = tokens.missing().isEmpty() ? missing(context, tokens, options) : tokens.missing();
        return missing.isEmpty()
                ? SsgProof.of(
                        options,
                        GlOptions.SSG_FILE,
                        (path, write) -> GlSsgFile.open(context, tokens, path, write),
                        "GL file",
                        "the functions exist, but ")
                : SsgProof.failed(missing);
    }

    private static String missing(GlContext context, SsgTokens tokens, Options options) {
        if (tokens.library().isEmpty()) {
            // eglGetProcAddress may return an address for any name that begins with gl.
            if (!context.facts().extensions().contains(tokens.extension())) {
                return "the context has no " + tokens.extension();
            }
            // Windows has no EGL: there WGL provides the functions.
            String noEgl = Wgl.isHere() ? "" : Egl.LIBRARY.load(options.get(GlOptions.LIBEGL));
            if (!noEgl.isEmpty()) {
                return "there is no EGL to load functions from: " + noEgl;
            }
        }
        return Ssg.load(tokens.library());
    }

    /** Allocates a buffer in visible memory if any is left; on the context's thread. */
    @Nullable
    public GlMemory allocate(long bytes) {
        return GlMemory.allocateVisible(context, bytes, visibleBytes);
    }

    @Override
    protected @Nullable DeviceMemory allocateReachable(long bytes) {
        long most = hasRing ? visibleBytes : Long.MAX_VALUE;
        DeviceMemory buffer = context.call(
                "allocation of a ring for the SSG extension", () -> GlMemory.allocateVisible(context, bytes, most));
        if (buffer == null && !hasRing) {
            throw GlFailure.unavailable("the driver has no local visible memory left for one staging buffer of a ring: "
                    + GlOptions.SSG_SEGMENT_BYTES + "=" + bytes);
        }
        hasRing = true;
        return buffer;
    }

    @Override
    public SsgFileObject open(Path path, boolean write) throws IOException {
        try {
            return context.call("opening of " + path, () -> opened(path, write));
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private SsgFileObject opened(Path path, boolean write) {
        try {
            return GlSsgFile.open(context, tokens, path, write);
        } catch (SsgRefusal e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public boolean readsByWriter() {
        return true;
    }

    @Override
    protected void execute(Runnable opening) {
        if (!context.post(opening)) {
            opening.run(); // which fails: the context has ended
        }
    }

    @Override
    protected String refusal(Target target, @Nullable DeviceMemory memory) {
        return memory instanceof GlMemory buffer && buffer.context() == context
                ? ""
                : "the target is no buffer of this context";
    }

    @Override
    protected boolean isReachable(DeviceMemory memory) {
        return memory instanceof GlMemory buffer && buffer.isVisible();
    }

    /** {@inheritDoc} Plain memory, since allocating a GL buffer must not wait for the context's thread. */
    @Override
    protected DeviceMemory allocateBounceBuffer(long bytes) {
        return Slabs.shared().allocate(bytes);
    }

    @Override
    protected SsgCommands<GlSsgCommand> openQueue(SsgQueue<GlSsgCommand> queue) {
        return new GlSsgQueue(context, queue);
    }

    @Override
    protected void close() {
        context.leave();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Options;
import io.penstock.backend.gl.GlBackends;
import io.penstock.backend.gl.HeadlessContext;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.platform.EglContext;
import io.penstock.benchmarks.ffi.GlFunctions;
import io.penstock.engine.kit.memory.Slab;
import io.penstock.engine.kit.memory.Slabs;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * OpenGL by an application's context, on the device that the backend uses too. Backends share its buffers, so the
 * application can check what they have moved.
 *
 * <p><b>Threading:</b> it is current on the thread that creates it, and is used there.
 */
final class GlDevice implements Device.Application {

    private static final int STAGING = Gl.GL_MAP_WRITE_BIT | Gl.GL_MAP_PERSISTENT_BIT | Gl.GL_MAP_COHERENT_BIT;
    private static final int BLOCK = 4096;

    private final HeadlessContext context = HeadlessContext.open(Options.none());
    private final GlMemoryCheck check = new GlMemoryCheck();
    private final int source = GlMemoryCheck.buffer(BLOCK, 0);
    private final int target = GlMemoryCheck.buffer(BLOCK, 0);

    @Override
    public Backend open(Options options) {
        return GlBackends.sharing(context.display(), context.context(), options);
    }

    @Override
    public void poison(long memory, long bytes) {
        check.poison((int) memory, bytes);
    }

    @Override
    public void verify(long memory, long at, long bytes, long fileOffset) throws IOException {
        check.verify((int) memory, at, bytes, fileOffset);
    }

    @Override
    public Gate gate() {
        return new GlGate();
    }

    @Override
    public long buffer(long bytes, DevicePeer.Way way) {
        return GlMemoryCheck.buffer(
                bytes,
                switch (way) {
                    case NAIVE -> GlFunctions.GL_DYNAMIC_STORAGE_BIT;
                    case MAPPED -> Gl.GL_MAP_WRITE_BIT;
                    case PREAD, PINNED -> 0;
                });
    }

    @Override
    public void free(long buffer) {
        GlMemoryCheck.delete((int) buffer);
    }

    @Override
    public Host host(long bytes, boolean pinned) {
        if (!pinned) {
            Slab plain = Slabs.shared().allocate(bytes);
            return new Host(0, plain.hostAddress(), plain::free);
        }
        int buffer = GlMemoryCheck.buffer(bytes, STAGING | Gl.GL_CLIENT_STORAGE_BIT);
        return new Host(buffer, Gl.glMapNamedBufferRange(buffer, 0, bytes, STAGING), () -> free(buffer));
    }

    @Override
    public void write(long buffer, long at, Host from, long bytes) {
        GlFunctions.glNamedBufferSubData((int) buffer, at, bytes, from.address());
    }

    @Override
    public void copy(Host from, long buffer, long at, long bytes) {
        Gl.glCopyNamedBufferSubData((int) from.handle(), (int) buffer, 0, at, bytes);
    }

    @Override
    public long mapBytes(long bytes, long segmentBytes) {
        return segmentBytes;
    }

    @Override
    public long map(long buffer, long at, long bytes) {
        int access = Gl.GL_MAP_WRITE_BIT | GlFunctions.GL_MAP_INVALIDATE_RANGE_BIT;
        return Gl.glMapNamedBufferRange((int) buffer, at, bytes, access);
    }

    @Override
    public void unmap(long buffer, long address) throws IOException {
        if (GlFunctions.glUnmapNamedBuffer((int) buffer) == 0) {
            throw new IOException("a map has lost its contents");
        }
    }

    @Override
    public void finish() {
        Gl.glFinish();
        GlFunctions.check("what came before glFinish");
    }

    @Override
    public AutoCloseable enter() {
        EglContext another = EglContext.sharing(context.display(), context.context());
        another.begin();
        return () -> {
            Gl.glFinish();
            another.end();
        };
    }

    @Override
    public Measure.Work waiting(long shut, boolean copies) {
        return () -> {
            if (!copies) {
                return passed(shut);
            }
            Gl.glWaitSync(shut, 0, Gl.GL_TIMEOUT_IGNORED);
            Gl.glCopyNamedBufferSubData(source, target, 0, 0, BLOCK);
            long copied = Gl.glFenceSync(Gl.GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
            long at = passed(copied);
            Gl.glDeleteSync(copied);
            return at;
        };
    }

    private static long passed(long fence) {
        int flush = GlFunctions.GL_SYNC_FLUSH_COMMANDS_BIT;
        int state = Gl.glClientWaitSync(fence, flush, TimeUnit.SECONDS.toNanos(DeviceWait.LIMIT_SECONDS));
        long at = System.nanoTime();
        if (state != Gl.GL_ALREADY_SIGNALED && state != Gl.GL_CONDITION_SATISFIED) {
            throw new IllegalStateException("glClientWaitSync -> 0x" + Integer.toHexString(state));
        }
        return at;
    }

    @Override
    public void close() {
        check.close();
        free(source);
        free(target);
        Gl.glFinish();
        context.close();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.staged;

import io.penstock.Capabilities;
import io.penstock.DeviceFence;
import io.penstock.FenceSupport;
import io.penstock.TransferPath;
import io.penstock.engine.kit.memory.HostMemory;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.ThreadRule;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The card: copies take place at the third poll, and only on the threads of its rule. */
final class Card implements DeviceDriver, StagingDevice {

    private static final int LOOKS = 3;

    private static final class Copy {
        final boolean in;
        final CardMemory memory;
        final long memoryOffset;
        final HostMemory staging;
        final long stagingOffset;
        final byte[] bytes;
        final @Nullable CardMemory source;
        final long sourceOffset;
        int looks;

        Copy(Request request) {
            this.in = request.isInward();
            this.memory = (CardMemory) request.memory();
            this.memoryOffset = request.memoryOffset();
            this.staging = (HostMemory) request.staging();
            this.stagingOffset = request.stagingOffset();
            this.bytes = new byte[(int) request.bytes()];
            this.source = (CardMemory) request.source();
            this.sourceOffset = request.sourceOffset();
        }

        void run() {
            if (source != null) {
                source.copy(false, sourceOffset, bytes);
                memory.copy(true, memoryOffset, bytes);
                return;
            }
            ByteBuffer window = staging.buffer(stagingOffset, bytes.length);
            if (in) {
                window.get(bytes);
                memory.copy(true, memoryOffset, bytes);
            } else {
                memory.copy(false, memoryOffset, bytes);
                window.put(bytes);
            }
        }
    }

    private final ThreadRule rule;
    private final Runnable close;
    private final Map<Request, Copy> copies = new ConcurrentHashMap<>();
    private volatile @Nullable Thread only;

    Card(ThreadRule rule, Runnable close) {
        this.rule = rule;
        this.close = close;
    }

    @Override
    public ThreadRule threads() {
        return rule;
    }

    @Override
    public DeviceMemory allocateStagingBuffer(long bytes) {
        return Slabs.shared().allocate(bytes);
    }

    @Override
    public void copy(Request request) {
        checkThread();
        if (copies.put(request, new Copy(request)) != null) {
            throw new AssertionError("copy " + request.tag() + " is begun twice");
        }
    }

    @Override
    public void poll(Request request) {
        checkThread();
        Copy copy = copies.get(request);
        if (copy == null || ++copy.looks >= LOOKS) {
            await(request, 0);
        }
    }

    @Override
    public void await(Request request, long nanos) {
        checkThread();
        Copy copy = copies.remove(request);
        if (copy == null) {
            throw new AssertionError("copy " + request.tag() + " has ended before");
        }
        copy.run();
        request.complete(copy.bytes.length);
    }

    private void checkThread() {
        Thread current = Thread.currentThread();
        if (rule == ThreadRule.MANY) {
            return;
        }
        Thread owner = only;
        if (owner == null) {
            only = current;
        } else if (owner != current) {
            throw new AssertionError("the card belongs to " + owner + ", not to " + current);
        }
    }

    @Override
    public Capabilities capabilities() {
        return new Capabilities(
                "card of arrays",
                false,
                Set.of(TransferPath.STAGED),
                FenceSupport.HOST_ONLY,
                false,
                false,
                Set.of("threads: " + rule));
    }

    @Override
    public DeviceMemory allocate(long bytes) {
        return new CardMemory(bytes);
    }

    @Override
    public DeviceMemory wrap(long nativeHandle, long bytes) {
        throw new IllegalArgumentException("the card knows no handle " + nativeHandle);
    }

    @Override
    public DeviceMemory wrap(ByteBuffer memory) {
        throw new IllegalArgumentException("the card does not address host memory");
    }

    @Override
    public DeviceFence fence(long nativeEvent) {
        throw new IllegalArgumentException("the card has no fences");
    }

    @Override
    public void close() {
        close.run();
    }
}

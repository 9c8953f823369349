// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.Backend;
import io.penstock.ClosedException;
import io.penstock.DeviceBuffer;
import io.penstock.Pack;
import io.penstock.StorageFile;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A backend that reports each signal of its publishers, and remembers every buffer, pack and file that it has delivered. */
final class WatchedBackend implements InvocationHandler {

    private static final long LIMIT_NANOS = 20_000_000_000L;

    private final Backend backend;
    private final Runnable signal;
    private final Queue<DeviceBuffer> buffers = new ConcurrentLinkedQueue<>();
    private final Queue<StorageFile> files = new ConcurrentLinkedQueue<>();

    WatchedBackend(Backend backend, Runnable signal) {
        this.backend = backend;
        this.signal = signal;
    }

    Backend proxy() {
        return (Backend) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Backend.class}, this);
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        if (method.isDefault()) {
            return InvocationHandler.invokeDefault(proxy, method, arguments);
        }
        try {
            Object result = method.invoke(backend, arguments);
            if (result instanceof Mono<?> mono) {
                return mono.doOnNext(this::remember)
                        .doOnSubscribe(s -> signal.run())
                        .doOnNext(value -> signal.run())
                        .doOnTerminate(signal);
            }
            return result instanceof Flux<?> flux
                    ? flux.doOnNext(this::remember)
                            .doOnSubscribe(s -> signal.run())
                            .doOnNext(value -> signal.run())
                            .doOnTerminate(signal)
                    : result;
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private void remember(Object delivered) {
        if (delivered instanceof DeviceBuffer buffer) {
            buffers.add(buffer);
        } else if (delivered instanceof Pack pack) {
            buffers.add(pack.buffer());
        } else if (delivered instanceof StorageFile file) {
            files.add(file);
        }
    }

    /** Returns how many files were delivered, and are not forgotten. */
    int files() {
        return files.size();
    }

    int delivered() {
        return buffers.size() + files.size();
    }

    /** Waits until every buffer and file that was delivered is closed, and forgets them. */
    void awaitClosed() {
        long deadline = System.nanoTime() + LIMIT_NANOS;
        while (open() > 0) {
            if (deadline - System.nanoTime() < 0) {
                throw new AssertionError(open() + " of " + delivered() + " buffers and files are still open");
            }
            LockSupport.parkNanos(100_000);
        }
        buffers.clear();
        files.clear();
    }

    private long open() {
        return buffers.stream()
                        .filter(buffer -> isOpen(
                                () -> buffer.download(0, ByteBuffer.allocate(0)).block()))
                        .count()
                + files.stream().filter(file -> isOpen(file::size)).count();
    }

    private static boolean isOpen(Runnable use) {
        try {
            use.run();
            return true;
        } catch (ClosedException e) {
            return false;
        }
    }
}

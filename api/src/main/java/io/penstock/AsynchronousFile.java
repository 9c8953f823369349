// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.FileLock;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A file as a channel of the JDK: {@link BlockingBackend#asynchronousChannel}. */
final class AsynchronousFile extends AsynchronousFileChannel {

    private final BlockingBackend blocking;
    private final StorageFile file;
    private volatile boolean closed;

    AsynchronousFile(BlockingBackend blocking, StorageFile file) {
        this.blocking = blocking;
        this.file = file;
    }

    private Mono<Integer> reading(ByteBuffer target, long position) {
        int most = target.remaining();
        return most == 0
                ? Mono.just(0)
                : blocking.backend()
                        .withBuffer(
                                most,
                                buffer -> blocking.backend()
                                        .submit(Transfer.read(file.region(position, most), buffer.all()))
                                        .flatMap(done -> done.bytes() == 0
                                                ? Mono.just(-1)
                                                : buffer.download(
                                                                0,
                                                                target.duplicate()
                                                                        .limit(target.position() + (int) done.bytes()))
                                                        .thenReturn((int) done.bytes()))
                                        .doOnNext(bytes -> target.position(target.position() + Math.max(0, bytes))));
    }

    private Mono<Integer> writing(ByteBuffer source, long position) {
        int all = source.remaining();
        return all == 0
                ? Mono.just(0)
                : blocking.backend()
                        .withBuffer(
                                all,
                                buffer -> buffer.upload(0, source)
                                        .then(blocking.backend()
                                                .submit(Transfer.write(buffer.all(), file.region(position, all))))
                                        .map(done -> (int) done.bytes())
                                        .doOnNext(bytes -> source.position(source.position() + bytes)));
    }

    private Mono<Integer> ifOpen(Mono<Integer> moving) {
        return closed ? Mono.error(new ClosedChannelException()) : moving;
    }

    /** By a future, since a lambda of a subscriber that throws would be told of its own exception. */
    private <A> void report(Mono<Integer> moving, A attachment, CompletionHandler<Integer, ? super A> handler) {
        CompletableFuture<?> unused = blocking.future(ifOpen(moving)).whenComplete((bytes, failure) -> {
            if (failure == null) {
                handler.completed(bytes, attachment);
            } else {
                handler.failed(failure, attachment);
            }
        });
    }

    @Override
    public <A> void read(
            ByteBuffer target, long position, A attachment, CompletionHandler<Integer, ? super A> handler) {
        report(reading(target, position), attachment, handler);
    }

    @Override
    public Future<Integer> read(ByteBuffer target, long position) {
        return blocking.future(ifOpen(reading(target, position)));
    }

    @Override
    public <A> void write(
            ByteBuffer source, long position, A attachment, CompletionHandler<Integer, ? super A> handler) {
        report(writing(source, position), attachment, handler);
    }

    @Override
    public Future<Integer> write(ByteBuffer source, long position) {
        return blocking.future(ifOpen(writing(source, position)));
    }

    @Override
    public long size() throws IOException {
        check();
        return file.size();
    }

    @Override
    public AsynchronousFileChannel truncate(long size) throws IOException {
        check();
        if (size < file.size()) {
            blocking.await(file, file.truncate(size));
        }
        return this;
    }

    @Override
    public void force(boolean metaData) throws IOException {
        check();
        blocking.await(file, file.sync());
    }

    private void check() throws ClosedChannelException {
        if (closed) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public <A> void lock(
            long position, long size, boolean shared, A attachment, CompletionHandler<FileLock, ? super A> handler) {
        throw noLocks();
    }

    @Override
    public Future<FileLock> lock(long position, long size, boolean shared) {
        throw noLocks();
    }

    @Override
    public @Nullable FileLock tryLock(long position, long size, boolean shared) {
        throw noLocks();
    }

    private static UnsupportedOperationException noLocks() {
        return new UnsupportedOperationException("no locks of a file of Penstock: lock it by a FileChannel of the JDK");
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    /** The file stays open; operations in flight end by themselves. */
    @Override
    public void close() {
        closed = true;
    }
}

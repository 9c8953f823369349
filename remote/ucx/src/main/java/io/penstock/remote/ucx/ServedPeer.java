// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import io.penstock.TransientStorageException;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.remote.ucx.Connection.Data;
import io.penstock.remote.ucx.Message.Kind;
import io.penstock.remote.ucx.Message.Refusal;
import io.penstock.remote.ucx.Staging.StagingBuffer;
import io.penstock.remote.ucx.ffi.Ucp;
import io.penstock.remote.ucx.ffi.UcsStatus;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A reader, as a listener sees it: the exports that it has opened, and its requests. On the thread of the connection.
 */
final class ServedPeer implements Connection.Side {

    private final UcxListener listener;
    private final Map<Long, Opened> opened = new HashMap<>(); // by the number of the export
    private volatile @Nullable Connection connection; // set once
    private boolean isPrepared; // the thread, for UCX's accesses to memory of devices

    /** An export, and how often the reader has opened it. */
    private static final class Opened {
        final UcxExport export;
        int files;

        Opened(UcxExport export) {
            this.export = export;
        }
    }

    ServedPeer(UcxListener listener) {
        this.listener = listener;
    }

    // Any thread.

    @Override
    public void connected(Connection established) {
        connection = established;
    }

    private Connection connection() {
        return Objects.requireNonNull(connection);
    }

    /** Ends the connection. */
    void end() {
        connection().end(connection().failure("close", UcsStatus.CANCELED, "the listener was closed"));
    }

    void join() {
        connection().join();
    }

    /** Notifies the reader that an export has ended. */
    void revoke(UcxExport export) {
        connection().post(() -> connection().send(Message.of(Kind.REVOKED, 0, export.number())));
    }

    // The thread of the connection.

    @Override
    public void received(Message message, Data data) {
        switch (message.kind()) {
            case OPEN -> {
                String token = data.text();
                connection().release(data);
                open(message, token);
            }
            case CLOSE -> {
                connection().release(data);
                close(message.export());
            }
            case READ -> {
                connection().release(data);
                read(message);
            }
            case WRITE -> write(message, data);
            case SYNC -> {
                connection().release(data);
                sync(message);
            }
            default -> {
                connection().release(data);
                throw new IllegalArgumentException("a reader must not send " + message.kind());
            }
        }
    }

    private void open(Message message, String token) {
        UcxExport export = listener.find(token);
        if (export == null) {
            refuse(message, Refusal.NO_SUCH_EXPORT, "the listener has no such export");
            return;
        }
        long size;
        try {
            size = export.source().size();
        } catch (RuntimeException e) { // the file is closed
            refuse(message, Refusal.PERMANENT, e.toString());
            return;
        }
        opened.computeIfAbsent(export.number(), any -> new Opened(export)).files++;
        export.openedBy(this);
        connection().send(new Message(Kind.OPENED, 0, message.id(), export.number(), size, export.access()));
    }

    private void close(long number) {
        Opened known = opened.get(number);
        if (known != null && --known.files == 0) {
            opened.remove(number);
            known.export.closedBy(this);
        }
    }

    private @Nullable UcxExport find(Message message) {
        Opened known = opened.get(message.export());
        return known == null ? null : known.export;
    }

    /** Begins an access; returns null if it is refused. */
    private @Nullable UcxExport enter(Message message, int access) {
        UcxExport export = find(message);
        if (export == null || !export.enter()) {
            refuse(message, Refusal.REVOKED, "the export has ended");
            return null;
        }
        if ((export.access() & access) == 0) {
            export.leave();
            refuse(message, Refusal.PERMANENT, "the listener does not export it for that");
            return null;
        }
        Source source = export.source();
        long most = source.isHostMemory() ? Integer.MAX_VALUE : AsyncFile.RANGE_BYTES;
        if (message.offset() < 0
                || message.length() < 1
                || message.length() > most
                || (!source.mayGrow() && message.offset() > source.size() - message.length())) {
            export.leave();
            refuse(
                    message,
                    Refusal.PERMANENT,
                    message.length() + " bytes at " + message.offset() + " are out of range");
            return null;
        }
        return export;
    }

    private void read(Message message) {
        UcxExport export = enter(message, UcxExport.READ);
        if (export == null) {
            return;
        }
        Source source = export.source();
        if (source.address() != 0) {
            if (prepare(message, export)) {
                sendData(message, source.address() + message.offset(), source.memoryType(), export::leave);
            }
            return;
        }
        staged(
                message,
                export,
                () -> {},
                buffer -> Mono.defer(() -> source.read(message.offset(), buffer.region(message.length())))
                        .subscribe(bytes -> filled(message, export, buffer, bytes), e -> {
                            done(export, buffer);
                            post(() -> refuse(message, e));
                        }));
    }

    private void filled(Message message, UcxExport export, StagingBuffer buffer, long bytes) {
        boolean posted = post(() -> {
            if (bytes == message.length()) {
                sendData(message, buffer.address(), Ucp.UCS_MEMORY_TYPE_HOST, () -> done(export, buffer));
            } else {
                done(export, buffer);
                refuse(message, Refusal.PERMANENT, "the file has become shorter since it was opened");
            }
        });
        if (!posted) {
            done(export, buffer);
        }
    }

    /**
     * Prepares this thread, once, for UCX's accesses to memory; returns false, and refuses the request, if that fails.
     */
    private boolean prepare(Message message, UcxExport export) {
        Source source = export.source();
        try {
            if (!isPrepared && !source.isHostMemory()) {
                source.enter();
                isPrepared = true;
            }
            return true;
        } catch (IOException e) {
            export.leave();
            refuse(message, e);
            return false;
        }
    }

    private void sendData(Message message, long address, int memoryType, Runnable ended) {
        Message header = new Message(Kind.DATA, 0, message.id(), message.export(), message.offset(), message.length());
        connection().send(header, address, message.length(), memoryType, status -> ended.run());
    }

    private void write(Message message, Data data) {
        if (data.bytes != message.length()) {
            connection().release(data);
            throw new IllegalArgumentException(
                    "a write of " + message.length() + " bytes must bring them, brought " + data.bytes);
        }
        UcxExport export = enter(message, UcxExport.WRITE);
        if (export == null) {
            connection().release(data);
            return;
        }
        Source source = export.source();
        if (source.address() != 0 && (source.isHostMemory() || !data.isHere())) {
            if (!prepare(message, export)) {
                connection().release(data);
                return;
            }
            connection().receive(data, source.address() + message.offset(), source.memoryType(), status -> {
                export.leave();
                answer(message, status);
            });
            return;
        }
        staged(message, export, () -> connection().release(data), buffer -> {
            boolean posted = post(() -> connection()
                    .receive(
                            data,
                            buffer.address(),
                            Ucp.UCS_MEMORY_TYPE_HOST,
                            status -> received(message, export, buffer, status)));
            if (!posted) {
                done(export, buffer);
            }
        });
    }

    private void received(Message message, UcxExport export, StagingBuffer buffer, int status) {
        if (status != UcsStatus.OK) { // the connection ends
            done(export, buffer);
            return;
        }
        answer(
                message,
                Mono.defer(() -> export.source().write(message.offset(), buffer.region(message.length()))),
                () -> done(export, buffer));
    }

    private void sync(Message message) {
        UcxExport export = find(message);
        if (export == null || !export.enter()) {
            refuse(message, Refusal.REVOKED, "the export has ended");
            return;
        }
        answer(message, Mono.defer(() -> export.source().sync()), export::leave);
    }

    /** Answers a write or a sync when it has ended, which ends an access. */
    private void answer(Message message, Mono<?> ending, Runnable done) {
        ending.subscribe(
                null,
                e -> {
                    done.run();
                    post(() -> refuse(message, e));
                },
                () -> {
                    done.run();
                    post(() -> answer(message, UcsStatus.OK));
                });
    }

    /** Notifies the reader that a write or a sync has ended; after an error the connection ends instead. */
    private void answer(Message message, int status) {
        if (status == UcsStatus.OK) {
            connection().send(Message.of(Kind.DONE, message.id(), message.export()));
        }
    }

    /**
     * Takes a staging buffer.
     *
     * @param drop called instead, on the thread of the connection, if there will be none
     * @param use called on any thread
     */
    private void staged(Message message, UcxExport export, Runnable drop, Consumer<StagingBuffer> use) {
        Staging staging;
        try {
            staging = listener.staging();
        } catch (IOException | RuntimeException e) {
            export.leave();
            drop.run();
            refuse(message, e);
            return;
        }
        staging.take(buffer -> {
            if (buffer != null) {
                use.accept(buffer);
                return;
            }
            export.leave();
            post(() -> {
                drop.run();
                refuse(message, Refusal.REVOKED, "the listener is closed");
            });
        });
    }

    /** Ends a staged access, on any thread. */
    private static void done(UcxExport export, StagingBuffer buffer) {
        buffer.free();
        export.leave();
    }

    private boolean post(Runnable task) {
        return connection().post(task);
    }

    private void refuse(Message message, Throwable cause) {
        Refusal refusal = cause instanceof TransientStorageException ? Refusal.TRANSIENT : Refusal.PERMANENT;
        refuse(message, refusal, String.valueOf(cause.getMessage()));
    }

    private void refuse(Message message, Refusal refusal, String reason) {
        String shortened = reason.substring(0, Math.min(reason.length(), 1000));
        connection().send(new Message(Kind.FAILED, refusal.number, message.id(), message.export(), 0, 0), shortened);
    }

    @Override
    public boolean isWaiting() {
        return false;
    }

    @Override
    public void ended(NativeFailure cause) {
        opened.values().forEach(known -> known.export.closedBy(this));
        opened.clear();
    }
}

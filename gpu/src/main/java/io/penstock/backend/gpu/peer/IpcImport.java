// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.peer;

import io.penstock.Failure;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.context.GpuContext;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/**
 * GPU memory of another process, mapped into a context of this one: of its GPU, or of one that its GPU reaches, to which
 * CUDA then gives it access.
 *
 * <p><b>Threading:</b> thread-safe.
 */
public final class IpcImport implements AutoCloseable {

    /** How long an exporter may take to answer. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final GpuContext context;
    private final Path socket;
    private final SocketChannel connection;
    private final IpcMessage message;
    private final long base;
    private final Sinks.Empty<Void> revoked = Sinks.empty();

    private IpcImport(GpuContext context, Path socket, SocketChannel connection, IpcMessage message, long base) {
        this.context = context;
        this.socket = socket;
        this.connection = connection;
        this.message = message;
        this.base = base;
    }

    /**
     * Connects to an export and maps its memory. Blocks.
     *
     * @throws PermanentStorageException if the export has ended, is of this process, or of a GPU that the context's does not
     *     reach
     * @throws PenstockException with the driver's answer
     */
    public static IpcImport open(GpuContext context, URI uri) {
        String path = uri.getPath();
        if (path == null) {
            throw refused(uri, "it names no socket", null);
        }
        Path socket = Path.of(path);
        SocketChannel connection = null;
        try {
            connection = connect(socket, PATIENCE);
            IpcMessage message = IpcMessage.decoded(receive(connection));
            IpcImport opened = new IpcImport(context, socket, connection, message, map(context, uri, message));
            opened.watch();
            return opened;
        } catch (IOException | RuntimeException e) {
            if (connection != null) {
                ChannelWatch.close(connection);
            }
            if (e instanceof PenstockException answer) {
                throw answer;
            }
            throw refused(uri, "the export has ended, or is not accessible: " + e.getMessage(), e);
        }
    }

    /** Connects; the kernel lets that wait, without a limit, where the exporter's backlog is full. */
    static SocketChannel connect(Path socket, Duration patience) throws IOException {
        SocketChannel connection = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            Disposable limit = Schedulers.parallel()
                    .schedule(() -> ChannelWatch.close(connection), patience.toNanos(), TimeUnit.NANOSECONDS);
            try {
                connection.connect(UnixDomainSocketAddress.of(socket));
            } finally {
                limit.dispose();
            }
            return connection;
        } catch (AsynchronousCloseException e) {
            throw new IOException("it has accepted no connection within " + patience, e);
        } catch (IOException | RuntimeException | Error e) {
            ChannelWatch.close(connection);
            throw e;
        }
    }

    private static ByteBuffer receive(SocketChannel connection) throws IOException {
        ByteBuffer message = ByteBuffer.allocate(IpcMessage.BYTES);
        connection.configureBlocking(false);
        try (Selector selector = Selector.open()) {
            connection.register(selector, SelectionKey.OP_READ);
            while (message.hasRemaining()) {
                if (selector.select(PATIENCE.toMillis()) == 0) {
                    throw new IOException("no answer within " + PATIENCE.toSeconds() + " s");
                }
                selector.selectedKeys().clear();
                if (connection.read(message) < 0) {
                    throw new IOException("the connection has ended");
                }
            }
        }
        return message.flip();
    }

    private static long map(GpuContext context, URI uri, IpcMessage message) {
        if (message.process().equals(IpcMessage.THIS_PROCESS)) {
            throw refused(
                    uri,
                    "it is an export of this process, and "
                            + context.driver().words().vendor() + " opens exports of other processes only",
                    null);
        }
        UUID gpu = IpcMessage.gpu(context);
        DriverApi driver = context.driver();
        long[] base = new long[1];
        int result = context.attempt(
                () -> driver.ipcOpenMemHandle(base, message.handle().array()));
        if (result == DriverApi.INVALID_CONTEXT) {
            throw refused(
                    uri,
                    driver.words().vendor() + " opens memory of another process in one context only: "
                            + driver.error("ipcOpenMemHandle", result),
                    null);
        }
        if (result != DriverApi.SUCCESS
                && !message.gpu().equals(gpu)
                && driver.foreignCause(result).isEmpty()) {
            throw refused(
                    uri,
                    "it is memory of the GPU with UUID " + message.gpu() + ", and this backend's " + context.gpu()
                            + " with UUID " + gpu + " does not reach it: "
                            + driver.error("ipcOpenMemHandle", result),
                    null);
        }
        driver.check("opening of " + uri, "ipcOpenMemHandle", result);
        return base[0];
    }

    private static PermanentStorageException refused(URI uri, String why, @Nullable Throwable cause) {
        return new PermanentStorageException("opening of " + uri + " refused: " + why, Failure.NOT_STARTED, cause);
    }

    private void watch() throws IOException {
        try {
            ChannelWatch.watch(connection, SelectionKey.OP_READ, this::readEnd);
        } catch (IOException | RuntimeException | Error e) {
            unmap();
            throw e;
        }
    }

    /** The exporter sends nothing more: the one event is the end of its direction. */
    private void readEnd(SelectionKey key) {
        key.cancel(); // the end stays readable
        if (!connection.isOpen()) {
            return; // it is closed here: the exporter's end follows from that, maybe before the key is cancelled
        }
        IpcExport.delete(socket); // left by an exporter that was killed
        revoked.tryEmitEmpty();
    }

    /** Returns the address of the exported range in this process. */
    public long address() {
        return base + message.offset();
    }

    /** Returns the length of the exported range. */
    public long bytes() {
        return message.bytes();
    }

    /** Completes when the exporter has closed the export or has ended. */
    public Mono<Void> revoked() {
        return revoked.asMono();
    }

    /** Unmaps the memory, which nothing may use any more, and then notifies the exporter. May block. */
    @Override
    public void close() {
        unmap();
        ChannelWatch.close(connection);
    }

    private void unmap() {
        // The driver counts: it is unmapped by the last close of the same allocation.
        context.attempt(() -> context.driver().ipcCloseMemHandle(base));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.peer;

import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.context.GpuContext;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A range of GPU memory that processes of the same user can open: a socket in a folder that only this user can access,
 * and one connection for each process.
 *
 * <p><b>Threading:</b> thread-safe.
 */
public final class IpcExport implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(IpcExport.class);

    private final String scheme;
    private final Path socket;
    private final ByteBuffer message;
    private final ServerSocketChannel listener;
    private final Sinks.Empty<Void> released = Sinks.empty();

    // Guarded by this.
    private final Set<SocketChannel> importers = new HashSet<>();
    private boolean closed;
    private boolean refusing; // since the last process that was accepted

    private IpcExport(String scheme, Path folder, IpcMessage message) throws IOException {
        this.scheme = scheme;
        this.socket = folder.resolve("memory");
        this.message = message.encoded();
        this.listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            listener.bind(UnixDomainSocketAddress.of(socket));
            Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
            ChannelWatch.watch(listener, SelectionKey.OP_ACCEPT, this::accept);
        } catch (IOException | RuntimeException | Error e) {
            stopListening();
            throw e;
        }
    }

    /**
     * Exports a range of a context's memory, which must not be freed before {@link #released()} completes.
     *
     * @throws UnsupportedOperationException if the driver provides no handle of it
     * @throws UncheckedIOException if no socket can be created
     * @throws io.penstock.DeviceLostException if the context is lost
     */
    public static IpcExport open(GpuContext context, long address, long bytes) {
        IpcMessage message = IpcMessage.of(context, address, bytes);
        try {
            return new IpcExport(scheme(context.driver()), Files.createTempDirectory("penstock-ipc-"), message);
        } catch (IOException e) {
            throw new UncheckedIOException("no socket for an export of GPU memory: " + e.getMessage(), e);
        }
    }

    /** Returns the scheme of URIs of exports: {@code cuda-ipc}. */
    public static String scheme(DriverApi driver) {
        return driver.prefix() + "-ipc";
    }

    /** Returns the URI that names the socket. */
    public URI uri() {
        return URI.create(scheme + ":" + socket.toUri().getRawPath());
    }

    private synchronized void accept(SelectionKey key) {
        if (closed) {
            return;
        }
        SocketChannel importer;
        try {
            importer = listener.accept();
        } catch (IOException e) {
            if (!refusing) {
                LOG.warn("{} cannot accept a process now, and tries again", this, e);
            }
            refusing = true;
            ChannelWatch.pause(key); // accept would fail again at once, for example with EMFILE
            return;
        }
        refusing = false;
        if (importer == null) {
            return;
        }
        importers.add(importer);
        try {
            importer.configureBlocking(false);
            if (importer.write(message.duplicate()) < IpcMessage.BYTES) {
                throw new IOException("an empty socket takes less than a message");
            }
            ChannelWatch.watch(importer, SelectionKey.OP_READ, ready -> readEnd(importer));
        } catch (IOException e) {
            LOG.debug("{}: a process has left before it opened the memory", this, e);
            importers.remove(importer);
            ChannelWatch.close(importer);
        }
    }

    /** Importers send nothing: the one event is the end of the connection. */
    private void readEnd(SocketChannel importer) {
        boolean open;
        try {
            open = importer.read(ByteBuffer.allocate(1)) >= 0;
        } catch (IOException reset) {
            open = false;
        }
        if (!open) {
            ChannelWatch.close(importer);
            synchronized (this) {
                importers.remove(importer);
            }
            releaseIfUnused();
        }
    }

    /** Completes once the export is closed and no process has the memory open. */
    public Mono<Void> released() {
        return released.asMono();
    }

    private void releaseIfUnused() {
        synchronized (this) {
            if (!closed || !importers.isEmpty()) {
                return;
            }
        }
        released.tryEmitEmpty();
    }

    private void stopListening() {
        ChannelWatch.close(listener);
        delete(socket);
    }

    /** Deletes the socket of an export that has ended, and its folder. */
    static void delete(Path socket) {
        try {
            Files.deleteIfExists(socket);
            Path folder = socket.getParent();
            if (folder != null) {
                Files.deleteIfExists(folder);
            }
        } catch (IOException e) {
            LOG.debug("{} is left", socket, e);
        }
    }

    /** Revokes the memory: accepts no more processes, and ends the connections in the direction of importers. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            stopListening();
            for (SocketChannel importer : importers) {
                try {
                    importer.shutdownOutput();
                } catch (IOException e) {
                    LOG.debug("{}: a process has ended already", this, e);
                }
            }
        }
        releaseIfUnused();
    }

    @Override
    public String toString() {
        return "export " + uri();
    }
}

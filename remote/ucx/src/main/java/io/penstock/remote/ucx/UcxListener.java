// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import io.penstock.Backend;
import io.penstock.ClosedException;
import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.Failure;
import io.penstock.FileOption;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.Outcome;
import io.penstock.StorageFile;
import io.penstock.engine.Engine;
import io.penstock.engine.kit.DaemonThread;
import io.penstock.remote.ucx.ffi.Ucp;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Exports files and buffers of this process to others, which open them by URI: {@code backend.openFile(export.uri())}.
 *
 * <p>Each reader has a connection, served by one thread. Bytes of host memory go from where they are; bytes of files
 * and of devices through staging memory of the host, unless {@link UcxOptions#GPU_DIRECT} is set.
 *
 * <p><b>Ownership:</b> the caller that opened it closes it, before the backend. Thread-safe.
 */
public final class UcxListener implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(UcxListener.class);

    private static final int TOKEN_BYTES = 16;
    private static final long PAUSE_NANOS = 100_000_000;
    private static final int MOST_STRANGERS = 64;

    private final Backend backend;
    private final long timeoutNanos;
    private final ServerSocket socket;
    private final UcxContext context;
    private final DeviceAccess deviceAccess;
    private final SecureRandom random = new SecureRandom();
    private final AtomicLong numbers = new AtomicLong();
    private final Map<String, UcxExport> exports = new ConcurrentHashMap<>();
    private final Set<ServedPeer> peers = ConcurrentHashMap.newKeySet();
    private final Set<Socket> strangers = new LinkedHashSet<>(); // without a token yet; guarded by itself
    private @Nullable Staging staging; // guarded by this, as the next
    private boolean closed;

    private UcxListener(
            Backend backend, ServerSocket socket, UcxContext context, DeviceAccess deviceAccess, long timeoutNanos) {
        this.backend = backend;
        this.socket = socket;
        this.context = context;
        this.deviceAccess = deviceAccess;
        this.timeoutNanos = timeoutNanos;
    }

    /**
     * Listens on an address of this host. May block.
     *
     * @param backend reads and writes exported files; its buffers must be host memory
     * @param address of one interface, since the URIs of exports name it; port 0 chooses one
     * @param options {@link CommonOptions#REMOTE_TIMEOUT} and {@link UcxOptions} are used
     * @throws IOException if the address cannot be bound, or UCX cannot be used here
     * @throws IllegalArgumentException if the address is of all interfaces
     */
    public static UcxListener open(Backend backend, InetSocketAddress address, Options options) throws IOException {
        Options all = resolved(options);
        if (!all.get(UcxOptions.GPU_DIRECT)) {
            return open(backend, address, all, DeviceAccess.NONE);
        }
        DeviceAccess access = DeviceAccess.of(UcxContext.get());
        if (access == DeviceAccess.NONE) {
            LOG.info("{} is set, but UCX has no CUDA here: memory of GPUs is staged", UcxOptions.GPU_DIRECT);
        }
        return open(backend, address, all, access);
    }

    static UcxListener open(Backend backend, InetSocketAddress address, Options options, DeviceAccess deviceAccess)
            throws IOException {
        InetAddress host = address.getAddress();
        if (host == null || host.isAnyLocalAddress()) {
            throw new IllegalArgumentException("address must be of one interface, was " + address);
        }
        long timeout = resolved(options).get(CommonOptions.REMOTE_TIMEOUT).toNanos();
        UcxContext context = UcxContext.get();
        UcxListener listener = new UcxListener(
                backend, new ServerSocket(address.getPort(), 0, host), context, deviceAccess, Math.max(1, timeout));
        try {
            new DaemonThread("penstock-ucx-listener", listener::accept).start();
        } catch (OutOfMemoryError e) { // the system permits no more threads
            listener.socket.close();
            throw e;
        }
        return listener;
    }

    private static Options resolved(Options options) {
        List<Option<?>> known = new ArrayList<>(CommonOptions.all());
        known.addAll(UcxOptions.all());
        return options.resolve(known);
    }

    /** Returns the address that it listens on. */
    public InetSocketAddress address() {
        return (InetSocketAddress) socket.getLocalSocketAddress();
    }

    /**
     * Exports a file. May block, as the first export allocates staging memory.
     *
     * <p><b>Ownership:</b> the file must stay open until the export is closed; the application closes it.
     *
     * @param file of the backend of this listener; readers may read and write it as far as it was opened for that
     * @throws IOException if memory cannot be registered
     * @throws ClosedException if this listener is closed
     */
    public UcxExport export(StorageFile file) throws IOException {
        staging();
        return add(new Source.OfFile(backend, file), UcxExport.access(file.options()));
    }

    /**
     * Exports a buffer of any backend. May block, as memory is registered.
     *
     * <p><b>Ownership:</b> closing the buffer takes effect after the export is closed.
     *
     * @param access READ, WRITE or both; none for READ
     * @throws IOException if memory cannot be registered
     * @throws ClosedException if this listener or the buffer is closed
     */
    public UcxExport export(DeviceBuffer buffer, FileOption... access) throws IOException {
        List<FileOption> wanted = Arrays.asList(access);
        if (!Set.of(FileOption.READ, FileOption.WRITE).containsAll(wanted)) {
            throw new IllegalArgumentException("access to a buffer must be READ or WRITE, was " + wanted);
        }
        Runnable unpin = Engine.pin(buffer);
        Source source;
        try {
            source = buffer.hostView().isPresent() ? hostMemory(buffer, unpin) : deviceMemory(buffer, unpin);
        } catch (IOException | RuntimeException | Error e) {
            unpin.run();
            throw e;
        }
        return add(source, UcxExport.access(wanted));
    }

    private Source hostMemory(DeviceBuffer buffer, Runnable unpin) throws IOException {
        long address = Source.hostAddress(buffer);
        return new Source.Memory(
                address, buffer.length(), registered(address, buffer.length(), Ucp.UCS_MEMORY_TYPE_HOST, unpin));
    }

    private Source deviceMemory(DeviceBuffer buffer, Runnable unpin) throws IOException {
        staging(); // short writes go through it in any case
        long address = buffer.nativeHandle();
        int device = deviceAccess.device(address);
        if (device < 0) {
            return new Source.OfDevice(buffer, 0, DeviceAccess.NONE, device, unpin);
        }
        boolean entered = deviceAccess.enter(device); // on the application's thread, which keeps what it has
        try {
            Runnable releasing = registered(address, buffer.length(), deviceAccess.memoryType(), unpin);
            return new Source.OfDevice(buffer, address, deviceAccess, device, releasing);
        } finally {
            if (entered) {
                deviceAccess.exit();
            }
        }
    }

    /** Registers memory; returns what ends that. */
    private Runnable registered(long address, long bytes, int memoryType, Runnable unpin) throws IOException {
        long registration = context.map(address, bytes, memoryType);
        return () -> {
            context.unmap(registration);
            unpin.run();
        };
    }

    private UcxExport add(Source source, int access) {
        byte[] bytes = new byte[TOKEN_BYTES];
        random.nextBytes(bytes);
        String token = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
        String host = socket.getInetAddress().getHostAddress();
        URI uri = URI.create(
                "ucx://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + socket.getLocalPort() + "/" + token);
        UcxExport export = new UcxExport(this, uri, numbers.incrementAndGet(), source, access);
        synchronized (this) {
            if (!closed) {
                exports.put(token, export);
                return export;
            }
        }
        source.release();
        throw closed();
    }

    private static ClosedException closed() {
        return new ClosedException(
                "export failed: the listener is closed", new Failure(Outcome.NOT_STARTED, null), null);
    }

    /** Returns the staging memory, which the first call allocates. */
    synchronized Staging staging() throws IOException {
        if (closed) {
            throw closed();
        }
        Staging known = staging;
        if (known == null) {
            known = Staging.open(backend);
            staging = known;
        }
        return known;
    }

    /** Returns the export of a token; null if there is none. */
    @Nullable
    UcxExport find(String token) {
        return exports.get(token);
    }

    void closed(UcxExport export) {
        exports.values().remove(export);
    }

    private void accept() {
        boolean refusing = false;
        while (!socket.isClosed()) {
            try {
                admit(socket.accept());
                refusing = false;
            } catch (IOException e) {
                if (!socket.isClosed()) {
                    if (!refusing) { // once for a series of failures
                        LOG.warn("no connection can be accepted on {} now; trying again", address(), e);
                    }
                    refusing = true;
                    LockSupport.parkNanos(PAUSE_NANOS); // for example until descriptors are free again
                }
            }
        }
    }

    /** Starts to serve a reader, which is closed if that fails. */
    private void admit(Socket reader) throws IOException {
        strange(reader);
        try {
            new DaemonThread("penstock-ucx-watch-" + reader.getRemoteSocketAddress(), () -> serve(reader)).start();
        } catch (OutOfMemoryError e) { // no thread can be started: others may end
            known(reader);
            reader.close();
            throw new IOException("no thread for a reader: " + e.getMessage(), e);
        }
    }

    /**
     * Counts a connection as one of a stranger. Where there are too many, the longest waiting connection is closed,
     * which ends its thread: a reader sends its token at once, and need not wait for strangers that send nothing.
     */
    private void strange(Socket reader) throws IOException {
        Socket longest;
        synchronized (strangers) {
            longest = strangers.size() < MOST_STRANGERS
                    ? null
                    : strangers.iterator().next();
            strangers.remove(longest);
            strangers.add(reader);
        }
        if (longest != null) {
            longest.close();
        }
    }

    private void known(Socket reader) {
        synchronized (strangers) {
            strangers.remove(reader);
        }
    }

    /** Serves a reader until its end. */
    private void serve(Socket reader) {
        ServedPeer peer = new ServedPeer(this);
        try (reader) {
            reader.setTcpNoDelay(true);
            Handshake.admit(reader, exports::containsKey, timeoutNanos);
            known(reader);
            Connection connection =
                    Connection.open(reader, String.valueOf(reader.getRemoteSocketAddress()), peer, timeoutNanos);
            synchronized (this) {
                peers.add(peer);
                if (closed) {
                    peer.end();
                }
            }
            connection.watch();
            connection.join();
        } catch (IOException | RuntimeException e) {
            LOG.debug("a reader cannot be connected: {}", reader, e);
        } finally {
            known(reader);
            peers.remove(peer);
        }
    }

    /**
     * Ends all exports and connections; a second call does nothing. Returns when no thread accesses files and buffers
     * any more, except by transfers of the backend in flight.
     */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        try {
            socket.close();
        } catch (IOException e) {
            LOG.debug("closing {}", this, e);
        }
        List.copyOf(exports.values()).forEach(UcxExport::close);
        List<ServedPeer> served = List.copyOf(peers);
        served.forEach(ServedPeer::end);
        served.forEach(ServedPeer::join);
        Staging last;
        synchronized (this) {
            last = staging;
        }
        if (last != null) {
            last.close();
        }
    }

    @Override
    public String toString() {
        return "UCX listener on " + address();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.util.context.Context;

/**
 * This process in a shared read of several processes: it moves what the host orders, and is the host itself where there is
 * none. A host that ends is replaced, by the member that finds that first; the others tell the new one what they have.
 *
 * <p>All fields but those that are stated to be otherwise are used by its thread alone, which other threads give events.
 */
final class SharedMember implements Runnable, Disposable, SharedFrames.Receiver {

    private static final int RETRY_MILLIS = 10;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10); // with a host that does not accept

    // What this process offers: no process opens its own exports.
    private static final ConcurrentMap<URI, DeviceBuffer> OFFERED = new ConcurrentHashMap<>();

    private final SharedPlace place;
    private final Backend backend;
    private final SharedTally tally;
    private final long chunkBytes;

    // Of all threads.
    private final AtomicBoolean started = new AtomicBoolean();
    private final Queue<Runnable> events = new ConcurrentLinkedQueue<>();
    private volatile boolean cancelled;
    private @Nullable MonoSink<Completion> sink; // written before the thread starts
    private @Nullable Selector selector; // written before the thread starts

    private final byte[] states; // by chunk, as SharedHello has them
    private final Map<Integer, Part> running = new HashMap<>(); // by chunk
    private final Map<Integer, Completion> unconfirmed = new HashMap<>(); // copies that have ended, by chunk
    private final Map<Integer, Peer> peers = new HashMap<>(); // by the host's number
    private final List<PeerExport> exports = new ArrayList<>();
    private final List<URI> uris = new ArrayList<>(); // of the exports
    private @Nullable SharedHost host;
    private @Nullable SharedFrames frames; // to the host
    private SharedHello.@Nullable Identity identity;
    private SharedHello.@Nullable Offer offer;
    private long subscribedNanos;
    private long lostNanos; // since when there is no connection
    private int come;
    private String remark = ""; // for the completion
    private String refused = ""; // why the first copy that failed did
    private boolean complete;
    private boolean released;
    private @Nullable Throwable failure;

    SharedMember(SharedPlace place, Backend backend, SharedTally tally, long chunkBytes) {
        this.place = place;
        this.backend = backend;
        this.tally = tally;
        this.chunkBytes = chunkBytes;
        this.states = new byte[tally.chunks()];
    }

    Mono<Completion> completion() {
        return Mono.create(this::start);
    }

    private void start(MonoSink<Completion> to) {
        if (!started.compareAndSet(false, true)) {
            to.error(new IllegalStateException("a shared read runs once: " + tally.read()));
            return;
        }
        tally.subscribed();
        subscribedNanos = System.nanoTime();
        lostNanos = subscribedNanos;
        sink = to;
        try {
            selector = Selector.open();
            Thread thread = new Thread(null, this, "penstock-shared-read", 0, false);
            thread.setDaemon(true);
            thread.setContextClassLoader(null);
            thread.start();
        } catch (IOException | RuntimeException | Error e) {
            closeSelector();
            to.error(e);
            return;
        }
        to.onCancel(this);
    }

    private Selector selector() {
        return Objects.requireNonNull(selector);
    }

    private MonoSink<Completion> sink() {
        return Objects.requireNonNull(sink);
    }

    private void closeSelector() {
        try {
            if (selector != null) {
                selector.close();
            }
        } catch (IOException e) {
            // its descriptors are free
        }
    }

    /** Cancels it; also called after its end. From here on others do not count what they copy from it. */
    @Override
    public void dispose() {
        cancelled = true;
        selector().wakeup();
    }

    private void post(Runnable event) {
        events.add(event);
        selector().wakeup();
    }

    /** Runs on its thread. */
    @Override
    public void run() {
        try {
            identity = SharedHello.Identity.of(tally.read(), chunkBytes);
            offer = export();
            while (!cancelled && failure == null && !isOver()) {
                turn();
            }
        } catch (IOException e) {
            failure = new PermanentStorageException(
                    "the processes of a shared read cannot meet at " + place.socket() + ": " + e.getMessage(),
                    Failure.NOT_STARTED,
                    e);
        } catch (RuntimeException | Error e) { // one that is thrown would signal nothing
            failure = e;
        }
        try {
            leave();
        } catch (RuntimeException | Error e) {
            failure = failure == null ? e : failure;
        }
        if (failure != null) {
            sink().error(failure);
        } else if (complete) {
            sink().success(tally.completion(remark));
        }
    }

    private boolean isOver() {
        return complete && released && (host == null || host.isOver());
    }

    private void turn() throws IOException {
        if (frames == null && !complete) {
            connect();
        }
        int millis = host == null ? 0 : host.tickMillis();
        if (frames == null && !complete) {
            millis = RETRY_MILLIS;
        }
        int ready = selector().select(key -> ((Runnable) key.attachment()).run(), millis);
        if (ready == 0 && host != null) {
            host.tick();
        }
        for (Runnable event = events.poll(); event != null; event = events.poll()) {
            event.run();
        }
    }

    private void connect() throws IOException {
        SocketChannel channel = place.connect(this::host);
        if (channel != null) {
            SharedHello hello = new SharedHello(
                    Objects.requireNonNull(identity),
                    come,
                    System.nanoTime() - subscribedNanos,
                    ByteBuffer.wrap(states.clone()),
                    Objects.requireNonNull(offer));
            frames = new SharedFrames(channel, selector(), this);
            frames.send(SharedFrames.HELLO, hello::write);
        } else if (System.nanoTime() - lostNanos > PATIENCE_NANOS) {
            throw new IOException("the process that listens there accepts no connection");
        }
    }

    private void host(SharedPlace.Listener listener) throws IOException {
        if (host != null) {
            host.close();
        }
        host = new SharedHost(listener, selector());
    }

    /** Lets others open the buffers. */
    private SharedHello.Offer export() {
        Transfer read = tally.read();
        Map<DeviceBuffer, Integer> indices = new HashMap<>();
        List<SharedHello.Place> places = new ArrayList<>();
        for (int pair = 0; pair < read.pairs(); pair++) {
            BufferRegion to = (BufferRegion) read.target(pair);
            if (!indices.containsKey(to.buffer())) {
                indices.put(to.buffer(), indices.size());
                export(to.buffer());
            }
            places.add(new SharedHello.Place(indices.get(to.buffer()), to.offset()));
        }
        return new SharedHello.Offer(List.copyOf(uris), places);
    }

    private void export(DeviceBuffer buffer) {
        try {
            PeerExport export = buffer.exportPeer();
            exports.add(export);
            URI uri = export.uri();
            OFFERED.put(uri, buffer);
            uris.add(uri);
        } catch (UnsupportedOperationException e) {
            throw new UnsupportedOperationException(
                    "processes cannot share a read into memory that other processes cannot open: " + e.getMessage(), e);
        }
    }

    @Override
    public void received(byte kind, DataInputStream frame) throws IOException {
        try {
            switch (kind) {
                case SharedFrames.READ -> start(frame.readInt(), null);
                case SharedFrames.COPY -> start(frame.readInt(), Objects.requireNonNull(peers.get(frame.readInt())));
                case SharedFrames.STILL -> echo(frame.readInt());
                case SharedFrames.CONFIRMED -> confirmed(frame.readInt());
                case SharedFrames.COME -> come = frame.readInt();
                case SharedFrames.MEMBER -> peers.put(frame.readInt(), new Peer(SharedHello.Offer.read(frame)));
                case SharedFrames.LEFT -> left(frame.readInt());
                case SharedFrames.END -> complete(frame.readInt(), frame.readInt());
                default ->
                    failure = new PermanentStorageException(
                            "a shared read at " + place.socket() + " is refused: " + frame.readUTF(),
                            Failure.NOT_STARTED,
                            null);
            }
        } catch (RuntimeException e) { // a defect: another host would order the same
            failure = e;
        }
    }

    private void send(byte kind, SharedFrames.Body body) {
        if (frames != null) {
            frames.send(kind, body);
        }
    }

    private void echo(int question) {
        if (!cancelled) {
            send(SharedFrames.STILL, to -> to.writeInt(question));
        }
    }

    private void left(int number) {
        Peer peer = peers.remove(number);
        if (peer != null) {
            peer.close();
        }
    }

    /** The host has ended: what it has not confirmed is not there. */
    @Override
    public void ended() {
        frames = null;
        lostNanos = System.nanoTime();
        for (Part part : List.copyOf(running.values())) {
            if (part.from != null) {
                running.remove(part.chunk);
                part.dispose();
                states[part.chunk] = SharedHello.MISSING;
            }
        }
        unconfirmed.clear();
        forgetPeers();
    }

    private void forgetPeers() {
        peers.values().forEach(Peer::close);
        peers.clear();
    }

    private void start(int chunk, @Nullable Peer from) {
        Part part = new Part(chunk, from);
        running.put(chunk, part);
        if (from == null) {
            states[chunk] = SharedHello.READING;
        }
        part.move().subscribe(part);
    }

    private void ended(Part part, @Nullable Completion completion, @Nullable Throwable why) {
        if (!running.remove(part.chunk, part)) {
            return; // its host has ended
        }
        boolean whole = completion != null && SharedTally.isWhole(completion);
        if (part.from == null) {
            if (completion == null) {
                failure = why;
                return;
            }
            states[part.chunk] = whole ? SharedHello.WHOLE : SharedHello.SHORT;
            tally.arrived(part.chunk, completion, false);
        } else if (completion != null) {
            unconfirmed.put(part.chunk, completion);
        } else if (refused.isEmpty() && why != null) {
            refused = "; the file was read where a copy was refused, first: " + why.getMessage();
        }
        send(SharedFrames.ENDED, to -> {
            to.writeInt(part.chunk);
            to.writeBoolean(completion != null);
            to.writeBoolean(whole);
        });
    }

    private void confirmed(int chunk) {
        states[chunk] = SharedHello.WHOLE;
        tally.arrived(chunk, Objects.requireNonNull(unconfirmed.remove(chunk)), true);
    }

    /** All have everything: the memory of each is released by the others. */
    private void complete(int present, int all) {
        for (byte state : states) {
            if (state == SharedHello.MISSING || state == SharedHello.READING) {
                throw new IllegalStateException("the host has ended a read that is not over");
            }
        }
        complete = true;
        int wanted = place.processes().getAndAccumulate(present, Math::min);
        remark = (all < wanted
                        ? "; " + all + " of " + wanted + " processes came within "
                                + Duration.ofNanos(place.patienceNanos())
                        : "")
                + refused;
        forgetPeers();
        closeExports();
        Mono.whenDelayError(exports.stream().map(PeerExport::released).toList())
                .subscribe(nothing -> {}, e -> {}, () -> post(() -> released = true));
    }

    private void closeExports() {
        uris.forEach(OFFERED::remove);
        exports.forEach(PeerExport::close);
    }

    private void leave() {
        List.copyOf(running.values()).forEach(Part::dispose);
        running.clear();
        forgetPeers();
        if (frames != null) {
            frames.close();
        }
        if (host != null) {
            host.close();
        }
        closeExports();
        closeSelector();
    }

    /** Another member, whose memory this process has mapped from the first copy on. */
    private final class Peer implements AutoCloseable {

        private final SharedHello.Offer offer;
        private final Mono<List<DeviceBuffer>> buffers;

        // Guarded by this.
        private final List<DeviceBuffer> imported = new ArrayList<>();
        private boolean closed;

        Peer(SharedHello.Offer offer) {
            this.offer = offer;
            this.buffers = Flux.fromIterable(offer.uris())
                    .concatMap(this::open)
                    .collectList()
                    .cache(); // a copy that is cancelled does not cancel the opening, which others wait for
        }

        private Mono<DeviceBuffer> open(URI uri) {
            DeviceBuffer own = OFFERED.get(uri);
            return own != null ? Mono.just(own) : backend.openBuffer(uri).doOnNext(this::add);
        }

        private synchronized void add(DeviceBuffer buffer) {
            if (closed) {
                buffer.close();
            } else {
                imported.add(buffer);
            }
        }

        Mono<Completion> copy(int chunk) {
            return buffers.flatMap(opened -> backend.submit(copies(chunk, opened)));
        }

        private Transfer copies(int chunk, List<DeviceBuffer> opened) {
            SharedTally.Chunk part = tally.chunk(chunk);
            List<Transfer> copies = new ArrayList<>();
            for (int i = 0; i < part.read().pairs(); i++) {
                int pair = part.pairs().isEmpty() ? i : part.pairs().get(i);
                BufferRegion here = (BufferRegion) part.read().target(i);
                long within = here.offset() - ((BufferRegion) tally.read().target(pair)).offset();
                SharedHello.Place there = offer.places().get(pair);
                copies.add(Transfer.copy(
                        new BufferRegion(opened.get(there.buffer()), there.offset() + within, here.length()), here));
            }
            return SharedTally.joined(copies);
        }

        /** Closes what was opened: it is unmapped when no copy uses it any more. */
        @Override
        public synchronized void close() {
            closed = true;
            imported.forEach(DeviceBuffer::close);
            imported.clear();
        }
    }

    /** A chunk on its way: from the file, or from the buffers of another process. */
    private final class Part extends BaseSubscriber<Completion> {

        private final int chunk;
        private final @Nullable Peer from;

        Part(int chunk, @Nullable Peer from) {
            this.chunk = chunk;
            this.from = from;
        }

        Mono<Completion> move() {
            return Mono.defer(
                    () -> from == null ? backend.submit(tally.chunk(chunk).read()) : from.copy(chunk));
        }

        @Override
        public Context currentContext() {
            return Context.of(sink().contextView());
        }

        @Override
        protected void hookOnNext(Completion completion) {
            post(() -> ended(this, completion, null));
        }

        @Override
        protected void hookOnError(Throwable error) {
            post(() -> ended(this, null, error));
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.util.context.Context;

/**
 * One read for several backends, for example one per GPU: each byte is read from the file by one of them, and copied by the
 * others from its buffer, over the link between the devices where there is one. So two GPUs are filled by the work of the
 * processor for one, and each of their links to the host carries half.
 *
 * <pre>{@code
 * SharedRead shared = new SharedRead();
 * Mono<Completion> first = shared.join(gpu0, Transfer.read(file0.all(), buffer0.all()));
 * Mono<Completion> second = shared.join(gpu1, Transfer.read(file1.all(), buffer1.all()));
 * return Mono.zip(first, second);
 * }</pre>
 *
 * <p>The read is cut into chunks. A member that has nothing to copy reads the next chunk that no member has begun; it copies
 * each chunk that another member has.
 *
 * <p>The members may be {@linkplain #ofProcesses processes of one host}, each with a GPU of its own.
 *
 * <p><b>Result:</b> one completion per member, when every member that takes part has all its bytes: until then others copy
 * from its buffer. A member takes part from the subscription to its Mono to the end of it: subscribe to all of them at once.
 * {@link Completion#path} is the path of the reads, {@link Completion#reason} has the number of bytes that were copied.
 *
 * <p><b>Threading:</b> thread-safe. Signals are delivered as a backend's are, on a thread of any backend.
 *
 * <p><b>Errors, cancellation:</b> each Mono fails, or is cancelled, for itself. The others read what they have not copied by
 * then; chunks that they were copying from that member are read again.
 */
public final class SharedRead {

    private static final long CHUNK_BYTES = 16L << 20;

    private final long chunkBytes;
    private final @Nullable SharedPlace place; // of members in other processes
    // Stands on the public API of any backend, and therefore not in the engine.
    private final AtomicInteger news = new AtomicInteger(); // events since the present turn of advance()

    // Guarded by this.
    private @Nullable Transfer first;
    private SharedSchedule<Member> schedule = new SharedSchedule<>(0);

    /** Creates a read in chunks of 16 MiB. */
    public SharedRead() {
        this(CHUNK_BYTES);
    }

    /**
     * Creates a read in chunks of another size: of fewer bytes where the whole has few.
     *
     * @throws IllegalArgumentException if it is less than 1
     */
    public SharedRead(long chunkBytes) {
        this(chunkBytes, null);
    }

    private SharedRead(long chunkBytes, @Nullable SharedPlace place) {
        if (chunkBytes < 1) {
            throw new IllegalArgumentException("chunks must have at least 1 byte, had " + chunkBytes);
        }
        this.chunkBytes = chunkBytes;
        this.place = place;
    }

    /**
     * Returns a read whose members are processes of this host that run as the same user: a server has one for each GPU.
     * They meet at Unix-domain sockets, and open each other's buffers by {@link PeerExport#uri}; so their backends must
     * export memory ({@code cufile}), and the GPUs must reach each other. A process that cannot copy from another one
     * reads the file itself, and its {@link Completion#reason} has the cause.
     *
     * <pre>{@code
     * SharedRead shared = SharedRead.ofProcesses(Path.of("/run/user/1000/model"), 4, Duration.ofSeconds(10));
     * return shared.join(gpu, Transfer.read(file.all(), buffer.all()));
     * }</pre>
     *
     * <p><b>Result:</b> as above; a member that is done also waits for processes that have not come yet, for
     * {@code patience} at most, since one that comes later reads everything itself. {@link Completion#reason} tells if
     * some did not come.
     *
     * <p><b>Threading:</b> a thread for each member, which sleeps until there is something to do; it delivers the signal
     * when it has nothing else left to do.
     *
     * <p><b>Errors:</b> {@link UnsupportedOperationException} if other processes cannot open the buffers;
     * {@link PermanentStorageException} if the others read another file, or other regions, or have chunks of another
     * size, or if no socket can be made. A file is known by its device and number, length and time of modification.
     *
     * <p><b>Cancellation, and the end of a process</b> at any moment, also by {@code kill -9}: the others read what it was
     * to read. Chunks count as copied once the process that had them has confirmed, after the copy, that it still has.
     *
     * <p><b>Ownership:</b> the first process that comes holds the socket; when it ends or leaves, another one makes a new
     * socket. The last one deletes what is there. Memory that was {@linkplain Backend#wrap(long, long) wrapped} may be
     * mapped by other processes for a moment after an error or a cancel, but not after a completion.
     *
     * @param socket where they meet: sockets named so, with a number behind, in a folder that all of them have, and that
     *     no other user can write to; at most some 90 bytes long, the names of parts included
     * @param processes how many will come
     * @throws IllegalArgumentException if {@code processes} is less than 1
     */
    public static SharedRead ofProcesses(Path socket, int processes, Duration patience) {
        if (processes < 1) {
            throw new IllegalArgumentException("at least 1 process must come, was " + processes);
        }
        return new SharedRead(
                CHUNK_BYTES,
                new SharedPlace(socket.toAbsolutePath(), new AtomicInteger(processes), patience.toNanos()));
    }

    /**
     * Returns another read of the same {@linkplain #ofProcesses processes}, which meet at a socket of their own. Processes
     * that were missing, or had left, at the end of one of these reads are not waited for by later ones.
     *
     * @param name a name that no other read at this place has, the same in all processes
     * @param chunkBytes the size of its chunks, the same in all processes
     * @throws IllegalStateException if it is a read of one process
     * @throws IllegalArgumentException if {@code chunkBytes} is less than 1
     */
    public SharedRead part(String name, long chunkBytes) {
        if (place == null) {
            throw new IllegalStateException("a shared read of one process has no parts");
        }
        return new SharedRead(chunkBytes, place.part(name));
    }

    /**
     * Adds a member.
     *
     * <p><b>Result:</b> its completion; can be subscribed to once.
     *
     * @param read a read into buffers of {@code backend}, of the same regions of the same files as the other members'
     * @throws IllegalArgumentException if it is a write, a gather, a read into images, or a read of other regions; if
     *     it waits for a fence, or has a key, a queue, a deadline or a required path
     */
    public Mono<Completion> join(Backend backend, Transfer read) {
        if (!read.isRead() || read.isGather() || !read.isPlain()) {
            throw new IllegalArgumentException(read + ": only plain reads can be shared");
        }
        for (int pair = 0; pair < read.pairs(); pair++) {
            if (!(read.target(pair) instanceof BufferRegion)) {
                throw new IllegalArgumentException(read + ": only reads into buffers can be shared");
            }
        }
        if (place != null) {
            return new SharedMember(place, backend, new SharedTally(read, chunkBytes), chunkBytes).completion();
        }
        Member member = new Member(backend, new SharedTally(read, chunkBytes));
        synchronized (this) {
            if (first == null) {
                first = read;
                schedule = new SharedSchedule<>(member.tally.chunks());
            } else {
                checkSame(first, read);
            }
        }
        return Mono.create(member::start);
    }

    private static void checkSame(Transfer first, Transfer other) {
        boolean same = first.pairs() == other.pairs();
        for (int pair = 0; same && pair < first.pairs(); pair++) {
            same = first.fileOffset(pair) == other.fileOffset(pair)
                    && first.pairLength(pair) == other.pairLength(pair)
                    && path(first, pair).equals(path(other, pair));
        }
        if (!same) {
            throw new IllegalArgumentException(
                    "all members must read the same regions: " + other + " is not as " + first);
        }
    }

    private static Path path(Transfer transfer, int pair) {
        return transfer.fileRegion(pair).file().path().toAbsolutePath().normalize();
    }

    /** Starts whatever can start, until nothing can; then ends the members that are done. */
    private void advance() {
        if (news.getAndIncrement() != 0) {
            return; // the thread that starts parts looks again: parts that end at once do not nest
        }
        int seen = 1;
        do {
            for (SharedSchedule.Order<Member> order = next(); order != null; order = next()) {
                new Part(order).start();
            }
            seen = news.addAndGet(-seen);
        } while (seen != 0);
        endDone();
    }

    private synchronized SharedSchedule.@Nullable Order<Member> next() {
        return schedule.next();
    }

    private void endDone() {
        List<Member> done = List.of();
        synchronized (this) {
            if (schedule.allDone()) {
                done = schedule.present();
                done.forEach(schedule::leave);
            }
        }
        done.forEach(member -> member.sink().success(member.tally.completion("")));
    }

    /** Called when a part has ended. */
    private void ended(Part part, @Nullable Completion completion, @Nullable Throwable failure) {
        Member member = part.order.member();
        synchronized (this) {
            if (!member.takesPart()) {
                return;
            }
            boolean whole = completion != null && SharedTally.isWhole(completion);
            if (schedule.ended(part.order, completion != null, whole) && completion != null) {
                member.tally.arrived(part.order.chunk(), completion, part.order.from() != null);
            }
        }
        if (failure != null && part.order.from() == null) {
            member.fail(failure);
        } else {
            advance();
        }
    }

    /** A backend that takes part. Its fields are guarded by the lock of the shared read, unless stated otherwise. */
    private final class Member extends SharedSchedule.Seat implements Disposable {

        private final Backend backend;
        private final SharedTally tally;
        private final Disposable.Composite running = Disposables.composite(); // thread-safe
        private @Nullable MonoSink<Completion> sink; // written before it takes part
        private boolean started;

        Member(Backend backend, SharedTally tally) {
            super(tally.chunks());
            this.backend = backend;
            this.tally = tally;
        }

        void start(MonoSink<Completion> to) {
            synchronized (SharedRead.this) {
                if (started) {
                    to.error(new IllegalStateException("a shared read runs once: " + tally.read()));
                    return;
                }
                started = true;
                tally.subscribed();
                sink = to;
                schedule.join(this);
            }
            to.onCancel(this);
            advance();
        }

        MonoSink<Completion> sink() {
            return Objects.requireNonNull(sink);
        }

        void fail(Throwable failure) {
            if (stop()) {
                sink().error(failure);
            }
        }

        /** Cancels it; also called after its end. */
        @Override
        public void dispose() {
            stop();
        }

        private boolean stop() {
            synchronized (SharedRead.this) {
                if (!takesPart()) {
                    return false;
                }
                schedule.leave(this);
            }
            running.dispose();
            advance();
            return true;
        }
    }

    /** A chunk on its way into a member's buffer: from the file, or from the buffer of another. */
    private final class Part extends BaseSubscriber<Completion> {

        private final SharedSchedule.Order<Member> order;

        Part(SharedSchedule.Order<Member> order) {
            this.order = order;
        }

        void start() {
            Member member = order.member();
            if (!member.running.add(this)) {
                return; // cancelled meanwhile
            }
            try {
                Transfer own = member.tally.chunk(order.chunk()).read();
                Member from = order.from();
                Transfer moves = from == null
                        ? own
                        : copy(from.tally.chunk(order.chunk()).read(), own);
                member.backend.submit(moves).subscribe(this);
            } catch (RuntimeException | Error e) { // one that is thrown would end no member, now or later
                onError(e);
            }
        }

        private static Transfer copy(Transfer there, Transfer here) {
            List<Transfer> copies = new ArrayList<>();
            for (int pair = 0; pair < here.pairs(); pair++) {
                copies.add(Transfer.copy((BufferRegion) there.target(pair), (BufferRegion) here.target(pair)));
            }
            return SharedTally.joined(copies);
        }

        @Override
        public Context currentContext() {
            return Context.of(order.member().sink().contextView());
        }

        @Override
        protected void hookOnNext(Completion completion) {
            order.member().running.remove(this);
            ended(this, completion, null);
        }

        @Override
        protected void hookOnError(Throwable failure) {
            order.member().running.remove(this);
            ended(this, null, failure);
        }
    }
}

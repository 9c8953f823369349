// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
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
    private static final int IN_FLIGHT = 8; // chunks that a member reads, and as many that it copies

    private final long chunkBytes;
    // Stands on the public API of any backend, and therefore not in the engine. The end of each chunk scans all chunks
    // of
    // all members: a thousand chunks for 16 GiB.
    private final AtomicInteger news = new AtomicInteger(); // events since the present turn of advance()

    // Guarded by this.
    private final List<Member> members = new ArrayList<>();
    private @Nullable Member[] holders = {}; // by chunk: a member that takes part and has it
    private @Nullable Member[] readers = {}; // by chunk: the member that reads it now

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
        if (chunkBytes < 1) {
            throw new IllegalArgumentException("chunks must have at least 1 byte, had " + chunkBytes);
        }
        this.chunkBytes = chunkBytes;
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
        Member member = new Member(backend, read);
        synchronized (this) {
            if (members.isEmpty()) {
                holders = new Member[member.chunks.size()];
                readers = new Member[member.chunks.size()];
            } else {
                checkSame(members.get(0).read, read);
            }
            members.add(member);
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

    /**
     * A part of the read.
     *
     * @param read the transfer of a member
     * @param pairs for each of its pairs, of which pair of the whole read it is a part
     */
    private record Chunk(Transfer read, List<Integer> pairs) {

        static Chunk of(List<Transfer> parts, List<Integer> pairs) {
            Transfer first = parts.get(0);
            return new Chunk(parts.size() == 1 ? first : first.and(parts.subList(1, parts.size())), List.copyOf(pairs));
        }
    }

    /** Cuts a read into chunks. */
    private List<Chunk> chunks(Transfer read) {
        List<Chunk> chunks = new ArrayList<>();
        List<Transfer> parts = new ArrayList<>();
        List<Integer> pairs = new ArrayList<>();
        long room = chunkBytes;
        for (int pair = 0; pair < read.pairs(); pair++) {
            FileRegion from = read.fileRegion(pair);
            BufferRegion to = (BufferRegion) read.target(pair);
            for (long at = 0; at < from.length(); ) {
                long bytes = Math.min(room, from.length() - at);
                parts.add(Transfer.read(from.file().region(from.offset() + at, bytes), to.slice(at, bytes)));
                pairs.add(pair);
                at += bytes;
                room -= bytes;
                if (room == 0) {
                    chunks.add(Chunk.of(parts, pairs));
                    parts.clear();
                    pairs.clear();
                    room = chunkBytes;
                }
            }
        }
        if (!parts.isEmpty()) {
            chunks.add(Chunk.of(parts, pairs));
        } else if (chunks.isEmpty()) {
            chunks.add(new Chunk(read, List.of())); // an empty read
        }
        return chunks;
    }

    /** Starts whatever can start, until nothing can; then ends the members that are done. */
    private void advance() {
        if (news.getAndIncrement() != 0) {
            return; // the thread that starts parts looks again: parts that end at once do not nest
        }
        int seen = 1;
        do {
            for (Part part = next(); part != null; part = next()) {
                part.start();
            }
            seen = news.addAndGet(-seen);
        } while (seen != 0);
        endDone();
    }

    private void endDone() {
        List<Member> done = new ArrayList<>();
        synchronized (this) {
            boolean all = members.stream().allMatch(member -> !member.takesPart || member.isDone());
            for (Member member : members) {
                if (all && member.takesPart) {
                    leave(member);
                    done.add(member);
                }
            }
        }
        done.forEach(member -> member.sink().success(Shared.of(member)));
    }

    private synchronized @Nullable Part next() {
        for (Member member : members) {
            for (int chunk = member.first; member.takesPart && chunk < member.state.length; chunk++) {
                if (member.state[chunk] != Member.MISSING) {
                    member.first += chunk == member.first && member.state[chunk] == Member.THERE ? 1 : 0;
                    continue;
                }
                Member holder = holders[chunk];
                if (holder != null && !member.refused[chunk]) {
                    if (member.copies < IN_FLIGHT) {
                        member.copies++;
                        member.state[chunk] = Member.COMING;
                        return new Part(member, chunk, holder);
                    }
                } else if ((readers[chunk] == null || member.refused[chunk]) && member.reads < IN_FLIGHT) {
                    member.reads++;
                    member.state[chunk] = Member.COMING;
                    readers[chunk] = readers[chunk] == null ? member : readers[chunk];
                    return new Part(member, chunk, null);
                }
            }
        }
        return null;
    }

    /** Removes a member: no other copies from its buffer from now on. The caller holds the lock. */
    private void leave(Member member) {
        member.takesPart = false;
        for (int chunk = 0; chunk < holders.length; chunk++) {
            readers[chunk] = readers[chunk] == member ? null : readers[chunk];
            if (holders[chunk] == member) {
                holders[chunk] = null;
                for (Member other : members) {
                    if (other.takesPart && other.state[chunk] == Member.THERE && other.whole[chunk]) {
                        holders[chunk] = other;
                    }
                }
            }
        }
    }

    /** Called when a part has ended. */
    private void ended(Part part, @Nullable Completion completion, @Nullable Throwable failure) {
        Member member = part.member;
        int chunk = part.chunk;
        Throwable fatal = null;
        synchronized (this) {
            if (!member.takesPart) {
                return;
            }
            Member from = part.from;
            if (from == null) {
                member.reads--;
                readers[chunk] = readers[chunk] == member ? null : readers[chunk];
                fatal = failure;
            } else {
                member.copies--;
                member.refused[chunk] = failure != null; // then the file is read
            }
            if (completion == null) {
                member.state[chunk] = Member.MISSING;
            } else if (from != null && !from.takesPart) {
                member.state[chunk] = Member.MISSING; // its owner may have written to the buffer meanwhile
            } else {
                member.arrived(chunk, completion, from != null);
                if (member.whole[chunk] && holders[chunk] == null) {
                    holders[chunk] = member; // a short one is read by each: what lies behind the end is not copied
                }
            }
        }
        if (fatal != null) {
            member.fail(fatal);
        } else {
            advance();
        }
    }

    /** A backend that takes part. Its fields are guarded by the lock of the shared read, unless stated otherwise. */
    private final class Member implements Disposable {

        private static final byte MISSING = 0;
        private static final byte COMING = 1;
        private static final byte THERE = 2;

        private final Backend backend;
        private final Transfer read;
        private final List<Chunk> chunks;
        private final byte[] state; // by chunk
        private final boolean[] whole; // by chunk: it arrived, and was not cut short by the end of the file
        private final boolean[] refused; // by chunk: copying failed
        private final Disposable.Composite running = Disposables.composite(); // thread-safe
        private @Nullable MonoSink<Completion> sink; // written before it takes part
        private boolean started;
        private boolean takesPart;
        private int first; // no chunk before it is missing
        private int reads;
        private int copies;
        private int there;
        private final long[] bytes; // by pair
        private long copied;
        private @Nullable Completion lastRead;
        private long subscribedNanos;
        private long startedNanos = Long.MAX_VALUE;
        private long endedNanos;

        Member(Backend backend, Transfer read) {
            this.backend = backend;
            this.read = read;
            this.chunks = chunks(read);
            this.state = new byte[chunks.size()];
            this.whole = new boolean[chunks.size()];
            this.refused = new boolean[chunks.size()];
            this.bytes = new long[read.pairs()];
        }

        void start(MonoSink<Completion> to) {
            synchronized (SharedRead.this) {
                if (started) {
                    to.error(new IllegalStateException("a shared read runs once: " + read));
                    return;
                }
                started = true;
                subscribedNanos = System.nanoTime();
                sink = to;
                takesPart = true;
            }
            to.onCancel(this);
            advance();
        }

        MonoSink<Completion> sink() {
            return Objects.requireNonNull(sink);
        }

        boolean isDone() {
            return there == state.length;
        }

        void arrived(int chunk, Completion completion, boolean byCopy) {
            state[chunk] = THERE;
            there++;
            whole[chunk] = completion.bytes() == completion.transfer().length();
            List<Integer> pairs = chunks.get(chunk).pairs();
            for (int i = 0; i < pairs.size(); i++) {
                bytes[pairs.get(i)] += completion.bytes(i);
            }
            copied += byCopy ? completion.bytes() : 0;
            lastRead = byCopy && lastRead != null ? lastRead : completion;
            startedNanos = Math.min(startedNanos, completion.startedNanos());
            endedNanos = completion.endedNanos();
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
                if (!takesPart) {
                    return false;
                }
                leave(this);
            }
            running.dispose();
            advance();
            return true;
        }
    }

    /** A chunk on its way into a member's buffer: from the file, or from the buffer of another. */
    private final class Part extends BaseSubscriber<Completion> {

        private final Member member;
        private final int chunk;
        private final @Nullable Member from;

        Part(Member member, int chunk, @Nullable Member from) {
            this.member = member;
            this.chunk = chunk;
            this.from = from;
        }

        void start() {
            if (!member.running.add(this)) {
                return; // cancelled meanwhile
            }
            try {
                Transfer own = member.chunks.get(chunk).read();
                Transfer moves =
                        from == null ? own : copy(from.chunks.get(chunk).read(), own);
                member.backend.submit(moves).subscribe(this);
            } catch (RuntimeException | Error e) { // one that is thrown would end no member, now or later
                onError(e);
            }
        }

        private static Transfer copy(Transfer there, Transfer here) {
            Transfer copies = Transfer.copy((BufferRegion) there.target(0), (BufferRegion) here.target(0));
            List<Transfer> more = new ArrayList<>();
            for (int pair = 1; pair < here.pairs(); pair++) {
                more.add(Transfer.copy((BufferRegion) there.target(pair), (BufferRegion) here.target(pair)));
            }
            return more.isEmpty() ? copies : copies.and(more);
        }

        @Override
        public Context currentContext() {
            return Context.of(member.sink().contextView());
        }

        @Override
        protected void hookOnNext(Completion completion) {
            member.running.remove(this);
            ended(this, completion, null);
        }

        @Override
        protected void hookOnError(Throwable failure) {
            member.running.remove(this);
            ended(this, null, failure);
        }
    }

    /** The completion of a member; {@code read} is of one of its reads, if it has made one. */
    private record Shared(
            Transfer transfer,
            List<Long> ofPairs,
            long copied,
            Completion read,
            long subscribedNanos,
            long startedNanos,
            long endedNanos)
            implements Completion {

        static Shared of(Member member) {
            return new Shared(
                    member.read,
                    Arrays.stream(member.bytes).boxed().toList(),
                    member.copied,
                    Objects.requireNonNull(member.lastRead),
                    member.subscribedNanos,
                    member.startedNanos,
                    member.endedNanos);
        }

        @Override
        public long bytes() {
            return ofPairs.stream().mapToLong(Long::longValue).sum();
        }

        @Override
        public long bytes(int pair) {
            return ofPairs.get(pair);
        }

        @Override
        public TransferPath path() {
            return read.path();
        }

        @Override
        public Evidence evidence() {
            return read.evidence();
        }

        @Override
        public String reason() {
            return copied + " of " + bytes() + " bytes were copied from buffers of other members"
                    + (read.reason().isEmpty() ? "" : "; " + read.reason());
        }

        @Override
        public String toString() {
            return transfer + ": " + bytes() + " bytes, " + path();
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static io.penstock.SharedFrames.COME;
import static io.penstock.SharedFrames.CONFIRMED;
import static io.penstock.SharedFrames.COPY;
import static io.penstock.SharedFrames.END;
import static io.penstock.SharedFrames.ENDED;
import static io.penstock.SharedFrames.HELLO;
import static io.penstock.SharedFrames.LEFT;
import static io.penstock.SharedFrames.MEMBER;
import static io.penstock.SharedFrames.READ;
import static io.penstock.SharedFrames.REFUSED;
import static io.penstock.SharedFrames.STILL;

import java.io.DataInputStream;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The process of a shared read that decides who reads and who copies what; its own member, too, is one that connects. A
 * connection is a membership. Used by the thread of that member alone.
 */
final class SharedHost implements AutoCloseable {

    private static final int MOST_OF_REASON = 10_000;
    private static final int PAUSE_MILLIS = 100;

    private final SharedPlace.Listener listener;
    private final Selector selector;
    private final SelectionKey accepting;
    private final List<Connection> connections = new ArrayList<>();
    private @Nullable Round round; // from the first member on
    private boolean over;

    /** Takes the listener; ends it if that fails. */
    SharedHost(SharedPlace.Listener listener, Selector selector) throws IOException {
        this.listener = listener;
        this.selector = selector;
        try {
            listener.channel().configureBlocking(false);
            accepting = listener.channel().register(selector, SelectionKey.OP_ACCEPT, (Runnable) this::accept);
        } catch (IOException | RuntimeException | Error e) {
            listener.close(false);
            throw e;
        }
    }

    private void accept() {
        try {
            SocketChannel channel = listener.channel().accept();
            if (channel != null) {
                channel.configureBlocking(false);
                connections.add(new Connection(channel));
            }
        } catch (IOException e) {
            if (accepting.isValid()) { // else the read has ended in the same selection
                accepting.interestOps(0); // it would fail again at once, for example with EMFILE
            }
        }
    }

    /** Returns after how many milliseconds {@link #tick} is due; 0 if it is not. */
    int tickMillis() {
        boolean paused = accepting.isValid() && accepting.interestOps() == 0;
        return paused || !over && round != null && round.schedule.allDone() ? PAUSE_MILLIS : 0;
    }

    /** Looks whether members that have not come are no longer waited for. */
    void tick() {
        if (accepting.isValid()) {
            accepting.interestOps(SelectionKey.OP_ACCEPT);
        }
        if (round != null) {
            round.advance();
        }
    }

    /** Returns whether the read is over, and all members are told. */
    boolean isOver() {
        return over && connections.stream().allMatch(connection -> connection.frames.isFlushed());
    }

    /** Ends the connections; a read that is not over goes on with another host. */
    @Override
    public void close() {
        listener.close(over); // before others read the end, and look for the socket
        connections.forEach(connection -> connection.frames.close());
    }

    /** Another process, or this one. */
    private final class Connection implements SharedFrames.Receiver {

        private final SharedFrames frames;
        private @Nullable Member member;

        Connection(SocketChannel channel) throws IOException {
            frames = new SharedFrames(channel, selector, this);
        }

        @Override
        public void received(byte kind, DataInputStream frame) throws IOException {
            if (over) {
                return;
            }
            if (member != null && round != null) {
                round.received(member, kind, frame);
            } else if (kind == HELLO && member == null) {
                SharedHello hello = SharedHello.read(frame);
                if (round == null) {
                    round = new Round(hello);
                }
                member = round.join(this, hello);
            } else {
                throw new IOException("a member must start with its greeting");
            }
        }

        @Override
        public void ended() {
            connections.remove(this);
            if (!over && member != null && round != null) {
                round.leave(member);
            }
        }
    }

    private static final class Member extends SharedSchedule.Seat {

        private final int id;
        private final SharedFrames frames;
        private final SharedHello.Offer offer;
        private final Map<Integer, SharedSchedule.Order<Member>> orders = new HashMap<>(); // by chunk
        // Copies from it that have ended, by the number of the question whether it still had the bytes then.
        private final Map<Integer, SharedSchedule.Order<Member>> asked = new HashMap<>();

        Member(int id, SharedFrames frames, SharedHello hello) {
            super(hello.states().capacity());
            this.id = id;
            this.frames = frames;
            this.offer = hello.offer();
        }

        void introduce(Member other) {
            frames.send(MEMBER, to -> {
                to.writeInt(other.id);
                other.offer.write(to);
            });
        }
    }

    /** The read, and those who take part. */
    private final class Round {

        private final SharedHello.Identity identity;
        private final int chunks;
        private final SharedSchedule<Member> schedule;
        private int ids;
        private int questions;
        private int came; // to this host first
        private int cameBefore; // to hosts before it
        private long deadline; // System.nanoTime

        Round(SharedHello first) {
            identity = first.identity();
            chunks = first.states().capacity();
            schedule = new SharedSchedule<>(chunks);
            deadline = deadline(first);
        }

        private long deadline(SharedHello hello) {
            return System.nanoTime() - hello.waitedNanos() + listener.place().patienceNanos();
        }

        /** Adds a member, or returns null if it is refused. */
        @Nullable
        Member join(Connection connection, SharedHello hello) throws IOException {
            Optional<String> refusal = identity.refusal(hello.identity());
            if (refusal.isPresent()) {
                String why = refusal.get(); // names all files: a frame has room for less
                String some = why.substring(0, Math.min(why.length(), MOST_OF_REASON));
                connection.frames.send(REFUSED, to -> to.writeUTF(some));
                return null;
            }
            if (hello.states().capacity() != chunks) {
                throw new IOException("a member must have " + chunks + " chunks, has "
                        + hello.states().capacity());
            }
            came += hello.come() == 0 ? 1 : 0;
            cameBefore = Math.max(cameBefore, hello.come());
            deadline = deadline(hello) - deadline < 0 ? deadline(hello) : deadline;
            Member member = new Member(ids++, connection.frames, hello);
            schedule.present().forEach(other -> {
                member.introduce(other);
                other.introduce(member);
            });
            schedule.join(member);
            for (int chunk = 0; chunk < chunks; chunk++) {
                byte state = hello.states().get(chunk);
                if (state == SharedHello.READING) {
                    member.orders.put(chunk, schedule.reading(member, chunk));
                } else if (state != SharedHello.MISSING) {
                    schedule.has(member, chunk, state == SharedHello.WHOLE);
                }
            }
            schedule.present().forEach(each -> each.frames.send(COME, came + cameBefore));
            advance();
            return member;
        }

        void received(Member member, byte kind, DataInputStream frame) throws IOException {
            SharedSchedule.Order<Member> order;
            if (kind == ENDED) {
                order = member.orders.remove(frame.readInt());
                if (order == null) {
                    throw new IOException("the end of an order that was not given");
                }
                boolean arrived = frame.readBoolean();
                boolean whole = frame.readBoolean();
                Member from = order.from();
                if (from != null && from.takesPart() && arrived) {
                    from.asked.put(questions, order);
                    from.frames.send(STILL, questions++);
                    return;
                }
                schedule.ended(order, arrived, whole);
            } else if (kind == STILL) {
                order = member.asked.remove(frame.readInt());
                if (order != null && order.member().takesPart() && schedule.ended(order, true, true)) {
                    order.member().frames.send(CONFIRMED, order.chunk());
                }
            }
            advance();
        }

        void leave(Member member) {
            schedule.leave(member);
            for (SharedSchedule.Order<Member> order : member.asked.values()) {
                if (order.member().takesPart()) {
                    schedule.ended(order, true, true); // and is to be moved again
                }
            }
            schedule.present().forEach(each -> each.frames.send(LEFT, member.id));
            advance();
        }

        /** Gives orders, and ends the read when it is over. */
        void advance() {
            if (over) {
                return;
            }
            for (SharedSchedule.Order<Member> order = schedule.next(); order != null; order = schedule.next()) {
                Member from = order.from();
                int chunk = order.chunk();
                order.member().orders.put(chunk, order);
                if (from == null) {
                    order.member().frames.send(READ, chunk);
                } else {
                    order.member().frames.send(COPY, to -> {
                        to.writeInt(chunk);
                        to.writeInt(from.id);
                    });
                }
            }
            List<Member> present = schedule.present();
            boolean complete = came + cameBefore >= listener.place().processes().get();
            if (!present.isEmpty() && schedule.allDone() && (complete || System.nanoTime() - deadline >= 0)) {
                over = true;
                listener.close(true); // who comes now meets at another one
                present.forEach(each -> each.frames.send(END, to -> {
                    to.writeInt(present.size());
                    to.writeInt(came + cameBefore);
                }));
            }
        }
    }
}

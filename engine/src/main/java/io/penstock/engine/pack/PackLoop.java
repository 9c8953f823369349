// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.pack;

import io.penstock.Failure;
import io.penstock.Options;
import io.penstock.Outcome;
import io.penstock.Pack;
import io.penstock.PermanentStorageException;
import io.penstock.engine.host.whole.WholeFile;
import io.penstock.engine.host.whole.WholeFiles;
import io.penstock.engine.kit.DaemonThread;
import io.penstock.engine.queue.Port;
import io.penstock.engine.resource.Failures;
import io.penstock.engine.spi.DeviceMemory;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Operators;
import reactor.util.concurrent.Queues;
import reactor.util.context.Context;

/**
 * Fills the packs of one subscription, on one thread: files are opened ahead, placed in the order of their paths, and
 * read in any order.
 *
 * <p><b>Threading:</b> its own thread, but for the signals of the paths, {@link #wake} and {@link #start}.
 *
 * <p><b>Ownership:</b> it holds the backend open while anything is in flight. Where nothing is, and nothing may be
 * begun, it has no file open and no memory pinned, so that the backend can be closed.
 */
final class PackLoop implements Runnable, CoreSubscriber<Path> {

    private static final AtomicReferenceFieldUpdater<PackLoop, Subscription> UPSTREAM =
            AtomicReferenceFieldUpdater.newUpdater(PackLoop.class, Subscription.class, "upstream");

    private final Port port;
    private final Publisher<Path> source;
    private final Pack.Plan plan;
    private final PackSubscription subscription;
    private final WholeFiles files;
    private final int ahead;
    private final Queue<Path> inbox;

    @SuppressWarnings("unused") // through UPSTREAM
    private volatile @Nullable Subscription upstream;

    private volatile boolean pathsEnded; // written after the last path was added
    private @Nullable Throwable pathsError; // written before pathsEnded

    private final ArrayDeque<WholeFile> free = new ArrayDeque<>();
    private final ArrayDeque<WholeFile> window = new ArrayDeque<>(); // being opened, or open and not placed
    private final FilePack[] packs; // of files being read, by index
    private final int[] entries;
    private @Nullable FilePack current;
    private int taken; // paths, since the last request for more
    private boolean entered;

    PackLoop(Port port, Options options, Publisher<Path> source, Pack.Plan plan, PackSubscription subscription) {
        this.port = port;
        this.source = source;
        this.plan = plan;
        this.subscription = subscription;
        int inFlight = plan.inFlight();
        ahead = 2 * inFlight;
        inbox = Queues.<Path>get(ahead).get();
        packs = new FilePack[inFlight];
        entries = new int[inFlight];
        for (int i = inFlight - 1; i >= 0; i--) {
            free.push(new WholeFile(i));
        }
        files = WholeFilesOpening.open(options, inFlight, this::read);
    }

    void start() {
        if (!new DaemonThread("penstock-pack", this).tryStart()) {
            files.close();
            subscription.fail(new OutOfMemoryError("unable to create native thread"));
            subscription.end();
        }
    }

    /** Looks again whether anything can be done; any thread. */
    void wake() {
        files.wakeup().wake();
    }

    @Override
    public void run() {
        try {
            source.subscribe(this);
            while (!subscription.isOver() && !isDone()) {
                step();
            }
        } catch (Throwable e) { // also of the publisher of paths
            subscription.fail(e);
        }
        try {
            tidy();
        } finally {
            subscription.end();
        }
    }

    private boolean isDone() {
        if (!pathsEnded || !inbox.isEmpty() || !window.isEmpty()) {
            return false;
        }
        if (current != null) {
            enter();
            end(current);
        }
        if (files.inFlight() > 0) {
            return false;
        }
        if (pathsError != null) {
            subscription.fail(pathsError);
        }
        return true;
    }

    private void step() {
        if (current != null || subscription.permits()) {
            enter();
            boolean placed;
            do {
                open();
                placed = place();
            } while (placed);
        }
        if (files.inFlight() == 0) {
            leave();
        }
        files.turn(true);
    }

    private void enter() {
        if (entered) {
            return;
        }
        if (!port.enter()) {
            throw Failures.closed("reading of files", "the backend");
        }
        entered = true;
        if (current != null) {
            current.pin();
        }
        for (WholeFile file : window) {
            files.open(file);
        }
    }

    /** Holds nothing open or pinned while it waits for paths, demand, or the close of a pack. */
    private void leave() {
        if (entered) {
            window.forEach(this::release);
            if (current != null) {
                current.unpin();
            }
            entered = false;
            port.leave();
        }
    }

    private void release(WholeFile file) {
        if (file.error() == null) {
            files.release(file);
        }
    }

    private void open() {
        while (!free.isEmpty()) {
            Path path = inbox.poll();
            if (path == null) {
                return;
            }
            if (++taken >= ahead / 2) { // before the inbox is empty
                Subscription known = upstream;
                if (known != null) {
                    known.request(taken);
                }
                taken = 0;
            }
            WholeFile file = free.pop();
            file.name(path);
            window.add(file);
            files.open(file);
        }
    }

    /** Places the files that are open, in their order; returns whether there were any. */
    private boolean place() {
        boolean placed = false;
        for (WholeFile file = window.peek(); file != null && file.isOpened(); file = window.peek()) {
            if (file.error() == null && file.bytes() > plan.packBytes()) {
                tooLarge(file);
            }
            if (current != null && !current.has(file.error() == null ? file.bytes() : 0)) {
                end(current);
            }
            if (current == null) {
                if (!subscription.permits()) {
                    return false;
                }
                current = subscription.pack();
            }
            window.remove();
            place(current, file);
            placed = true;
        }
        return placed;
    }

    private void place(FilePack pack, WholeFile file) {
        Exception error = file.error();
        if (error != null) {
            pack.addFailed(file, error);
            free.push(file);
            return;
        }
        entries[file.index()] = pack.add(file);
        packs[file.index()] = pack;
        pack.reads();
        files.read(file);
    }

    private void tooLarge(WholeFile file) {
        String bytes = file + " has " + file.bytes() + " bytes, more than a pack of " + plan.packBytes();
        files.release(file);
        file.refuse(new PermanentStorageException(
                bytes + ": read it by Backend.stream, or with larger Pack.Plan.packBytes",
                new Failure(Outcome.NOT_STARTED, null),
                null));
    }

    /** Notes that a file was read, or was not. */
    private void read(WholeFile file) {
        FilePack pack = packs[file.index()];
        pack.read(entries[file.index()], file);
        free.push(file);
        if (pack.isRead()) {
            hand(pack);
        }
    }

    private void end(FilePack pack) {
        current = null;
        pack.end();
        if (pack.isRead()) {
            hand(pack);
        }
    }

    /** Hands over a pack whose files have been read. */
    private void hand(FilePack pack) {
        DeviceMemory staging = pack.staging();
        if (subscription.isOver()) {
            pack.drop();
        } else if (staging == null) {
            pack.release();
            pack.filled(null);
        } else if (port.enterWhileOpen()) {
            new PackUpload(port, pack, staging, subscription::signal).start();
            return;
        } else {
            pack.release();
            pack.filled(Failures.closed("upload of a " + pack, "the backend"));
        }
        subscription.signal();
    }

    /** Waits until nothing is in flight, and closes everything. */
    private void tidy() {
        Operators.terminate(UPSTREAM, this);
        try {
            if (entered) {
                do {
                    window.removeIf(this::released);
                    if (files.inFlight() > 0) {
                        files.turn(true);
                    }
                } while (files.inFlight() > 0 || !window.isEmpty());
            }
        } finally {
            if (current != null) {
                current.drop();
                current = null;
            }
            files.close();
            leave();
        }
    }

    private boolean released(WholeFile file) {
        if (file.isOpened()) {
            release(file);
            return true;
        }
        return false;
    }

    @Override
    public Context currentContext() {
        return subscription.actual().currentContext();
    }

    @Override
    public void onSubscribe(Subscription s) {
        if (Operators.setOnce(UPSTREAM, this, s)) {
            s.request(ahead);
        }
    }

    @Override
    public void onNext(Path path) {
        if (!inbox.offer(path)) {
            onError(Exceptions.failWithOverflow("more paths than were requested"));
            return;
        }
        wake();
    }

    @Override
    public void onError(Throwable cause) {
        if (pathsEnded) {
            Operators.onErrorDropped(cause, currentContext());
            return;
        }
        pathsError = cause;
        onComplete();
    }

    @Override
    public void onComplete() {
        pathsEnded = true;
        wake();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import io.penstock.engine.kit.DaemonThread;
import io.penstock.engine.kit.file.HostFailure;
import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How a server is reached: by which proxy, and at which of its addresses, which are tried as RFC 8305 has it.
 *
 * @param proxy null for none
 */
record Route(@Nullable HttpProxy proxy, Trust trust, int timeoutMillis) {

    private static final long ATTEMPT_DELAY_MILLIS = 250; // RFC 8305, 5

    /** Opens a connection to an address. */
    interface Opening<S extends Closeable> {
        S open(InetSocketAddress address) throws IOException;
    }

    /** Opens a connection to the server, or to its proxy. */
    <S extends Closeable> S connect(Origin origin, Opening<S> opening) throws IOException {
        String host = proxy == null ? origin.host() : proxy.host();
        int port = proxy == null ? origin.port() : proxy.port();
        List<InetAddress> addresses = inOrder(Arrays.asList(InetAddress.getAllByName(host)));
        return first(
                host,
                addresses.stream()
                        .map(address -> new InetSocketAddress(address, port))
                        .toList(),
                opening,
                attempt -> new DaemonThread("penstock-http-connect", attempt).start());
    }

    /**
     * Returns addresses in the order of attempts: the families by turns, the first one of the system's order first; any
     * of a family, since object stores have many, which share the load.
     */
    static List<InetAddress> inOrder(List<InetAddress> all) {
        Class<?> family = all.get(0).getClass();
        List<InetAddress> preferred =
                new ArrayList<>(all.stream().filter(family::isInstance).toList());
        List<InetAddress> others = new ArrayList<>(
                all.stream().filter(one -> !family.isInstance(one)).toList());
        Collections.shuffle(preferred);
        Collections.shuffle(others);
        List<InetAddress> turns = new ArrayList<>();
        for (int i = 0; i < Math.max(preferred.size(), others.size()); i++) {
            turns.addAll(preferred.subList(Math.min(i, preferred.size()), Math.min(i + 1, preferred.size())));
            turns.addAll(others.subList(Math.min(i, others.size()), Math.min(i + 1, others.size())));
        }
        return turns;
    }

    /**
     * Returns the connection that is first: the next address is tried when one has failed, or takes long. What is
     * opened later is closed.
     *
     * @param threads runs each attempt on a thread of its own; an address for which there is none has failed
     */
    static <S extends Closeable> S first(
            String host, List<InetSocketAddress> addresses, Opening<S> opening, Executor threads) throws IOException {
        if (addresses.size() == 1) {
            return opening.open(addresses.get(0));
        }
        CompletableFuture<S> won = new CompletableFuture<>();
        BlockingQueue<Optional<IOException>> ends = new LinkedBlockingQueue<>();
        List<IOException> failures = new ArrayList<>();
        try {
            for (int begun = 0; failures.size() < addresses.size(); ) {
                if (begun < addresses.size()) {
                    InetSocketAddress next = addresses.get(begun++);
                    try {
                        threads.execute(() -> ends.add(end(next, opening, won)));
                    } catch (OutOfMemoryError e) { // no thread can be started, but others may be connecting
                        ends.add(Optional.of(failed(next, e)));
                    }
                }
                Optional<IOException> end =
                        begun < addresses.size() ? ends.poll(ATTEMPT_DELAY_MILLIS, TimeUnit.MILLISECONDS) : ends.take();
                if (won.isDone()) {
                    return won.join();
                }
                if (end != null) {
                    end.ifPresent(failures::add);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            InterruptedIOException interrupted = new InterruptedIOException("interrupted while connecting to " + host);
            if (!won.completeExceptionally(interrupted)) {
                won.join().close();
            }
            throw interrupted;
        }
        throw failed(host, failures);
    }

    /** Returns why an address has no connection; empty if it has, which is closed unless it is the first. */
    private static <S extends Closeable> Optional<IOException> end(
            InetSocketAddress address, Opening<S> opening, CompletableFuture<S> won) {
        try {
            S opened = opening.open(address);
            if (!won.complete(opened)) {
                opened.close();
            }
            return Optional.empty();
        } catch (IOException | RuntimeException | Error e) {
            return Optional.of(failed(address, e));
        }
    }

    private static IOException failed(InetSocketAddress address, Throwable error) {
        return new IOException(address.getAddress().getHostAddress() + ": " + HostFailure.told(error), error);
    }

    private static IOException failed(String host, List<IOException> failures) {
        String all = failures.stream().map(Throwable::getMessage).collect(Collectors.joining(", "));
        return new IOException("no address of " + host + " has a server: " + all, failures.get(0));
    }
}

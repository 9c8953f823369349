// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import io.penstock.engine.testing.CompiledFakes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A network namespace, which a pair of virtual adapters connects with this one until the partition begins. */
final class Partition implements AutoCloseable {

    private static final String HERE = "10.213.97.1";
    private static final String THERE = "10.213.97.2";

    private static final AtomicInteger NUMBER = new AtomicInteger(); // a namespace goes some time after it is deleted

    private final String name = "pst" + ProcessHandle.current().pid() % 1_000_000 + "n" + NUMBER.getAndIncrement();

    Partition() throws IOException {
        ip("netns", "add", name);
        try {
            ip("link", "add", device(), "type", "veth", "peer", "name", name + "b", "netns", name);
            ip("addr", "add", HERE + "/30", "dev", device());
            ip("link", "set", device(), "up");
            ip("-n", name, "addr", "add", THERE + "/30", "dev", name + "b");
            ip("-n", name, "link", "set", name + "b", "up");
            ip("-n", name, "link", "set", "lo", "up");
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** Returns why there cannot be any here; null if there can. */
    static @Nullable String unavailable() {
        try (Partition partition = new Partition()) {
            return partition.name.isEmpty() ? "unnamed" : null;
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    private static void ip(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("ip"));
        command.addAll(List.of(arguments));
        CompiledFakes.run(command);
    }

    /** Returns the start of a command that runs in the namespace. */
    List<String> launcher() {
        return List.of("ip", "netns", "exec", name);
    }

    /** Returns the adapter on this side. */
    String device() {
        return name + "a"; // at most 15 characters
    }

    /** Returns the address of the namespace. */
    String address() {
        return THERE;
    }

    /** Drops all packets from now on. */
    void begin() throws IOException {
        ip("-n", name, "link", "set", name + "b", "down");
    }

    @Override
    public void close() throws IOException {
        try {
            ip("link", "del", device()); // at once, unlike the namespace, so that the next one can have the address
        } finally {
            ip("netns", "del", name);
        }
    }
}

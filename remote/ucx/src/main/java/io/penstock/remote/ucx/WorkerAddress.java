// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The address of a worker, taken apart as {@code ucp_address_unpack} does: UCX reads it without knowing its length, and
 * ends the process where it finds what it cannot use. Versions 1 and 2 of the format, which UCX numbers 0 and 1.
 */
final class WorkerAddress {

    private static final int MOST_TRANSPORTS = 128; // UCP_MAX_RESOURCES
    private static final int MOST_DOMAINS = 64; // UCP_MAX_MDS

    private static final int FLAG_NAME = 1;
    private static final int FLAG_UUID = 2;
    private static final int FLAG_CLIENT = 4;

    private static final int LAST = 0x80; // of devices and of transports
    private static final int EMPTY = 0x80; // a device without transports
    private static final int PATHS = 0x40;
    private static final int SYSTEM_DEVICE = 0x20;
    private static final int ENDPOINTS = 0x40;

    // By the checksum of its name, a transport whose address begins with a number that has flags in its highest bits.
    private static final short POSIX = (short) 0xD3A7; // 64 bits: how its memory is opened (mm_posix.c)
    private static final short CMA = (short) 0x8B47; // 32 bits: whether a namespace follows (cma_iface.c)

    private final ByteBuffer in;
    private final int version;
    private final long uuid;
    private final Map<Short, Set<Form>> forms = new HashMap<>(); // of transports, by the checksum of their name
    private int transports;

    /**
     * What must be the same at both ends of a transport: UCX believes what the address says.
     *
     * @param located whether the device has an address
     * @param flags what the transport can do, but for atomic operations
     * @param kind the flags in its address
     */
    private record Form(boolean located, int flags, int bytes, int kind) {}

    private WorkerAddress(byte[] packed) throws IOException {
        in = ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN);
        try {
            int header = next();
            version = header & 0xF;
            require(version <= 1, "its version is " + version);
            int flags = version == 0 ? header >> 4 : next();
            require((flags & ~(FLAG_NAME | FLAG_UUID | FLAG_CLIENT)) == 0, "it has the flags " + flags);
            require(version == 0 || (flags & FLAG_UUID) != 0, "it names no worker");
            uuid = in.getLong();
            skip((flags & FLAG_CLIENT) != 0 ? Long.BYTES : 0);
            skip((flags & FLAG_NAME) != 0 ? next() : 0);
            while (!device()) {
                // until the last one
            }
        } catch (BufferUnderflowException e) {
            throw new IOException("it ends early", e);
        }
        require(!in.hasRemaining(), in.remaining() + " bytes follow it");
        require(transports > 0, "it has no transport");
    }

    /**
     * Checks the address of a peer, which UCX of this process is about to use.
     *
     * @param own of a worker of this process: what UCX knows
     * @throws IOException if it is none that UCX makes
     */
    static void check(byte[] own, byte[] peer) throws IOException {
        WorkerAddress here;
        try {
            here = new WorkerAddress(own);
        } catch (IOException e) {
            throw new IOException(
                    "the addresses of this UCX cannot be checked: UCX_UNIFIED_MODE must not be set, and UCX not be newer than"
                            + " this release knows: "
                            + e.getMessage(),
                    e);
        }
        try {
            here.compare(new WorkerAddress(peer));
        } catch (IOException e) {
            throw new IOException("the peer has sent what is no address of a UCX worker: " + e.getMessage(), e);
        }
    }

    private void compare(WorkerAddress there) throws IOException {
        require(
                version == there.version,
                "UCX_ADDRESS_VERSION must be the same at both ends: v" + (version + 1) + " at this one, v"
                        + (there.version + 1) + " at the other");
        require(uuid != there.uuid, "it is one of this end");
        for (Map.Entry<Short, Set<Form>> known : forms.entrySet()) {
            require(
                    known.getValue().containsAll(there.forms.getOrDefault(known.getKey(), Set.of())),
                    "a transport has another form than here; UCX must be the same at both ends");
        }
    }

    /** Reads a device and its transports; returns whether it is the last. */
    private boolean device() throws IOException {
        int domain = next();
        int index = extended(domain, version == 0 ? 0x1F : 0x7F);
        int flags = next();
        int bytes = extended(flags, 0x1F);
        boolean last = (flags & LAST) != 0;
        require((flags & PATHS) == 0 || next() > 0, "a device has no path");
        skip((flags & SYSTEM_DEVICE) != 0 ? 1 : 0);
        if ((domain & EMPTY) != 0) { // since 1.14 the release of UCX, behind the devices
            require(last && bytes == 0, "a device has no transport");
            return true;
        }
        require(index < MOST_DOMAINS, "it has the memory domain " + index);
        skip(bytes);
        while (!transport(bytes > 0)) {
            // until the last one
        }
        return last;
    }

    private boolean transport(boolean located) throws IOException {
        require(++transports <= MOST_TRANSPORTS, "it has more than " + MOST_TRANSPORTS + " transports");
        short name = in.getShort();
        int able = attributes();
        int flags = next();
        int bytes = extended(flags, 0x3F);
        require((flags & ENDPOINTS) == 0, "it has addresses of endpoints");
        int address = in.position();
        skip(bytes);
        int kind = 0;
        if (name == POSIX && bytes >= Long.BYTES) {
            kind = in.get(address + 7) & 0xF0;
        } else if (name == CMA && bytes >= Integer.BYTES) {
            kind = in.get(address + 3) & 0x80;
        }
        forms.computeIfAbsent(name, any -> new HashSet<>()).add(new Form(located, able, bytes, kind));
        return (flags & LAST) != 0;
    }

    /** Reads the attributes of a transport; returns what it can do, without its priority and the atomic operations. */
    private int attributes() throws IOException {
        if (version == 1) {
            skip(Short.BYTES * 3); // numbers of 8 bits, each of which has a meaning
            return in.getShort() & 0xFF;
        }
        float overhead = in.getFloat();
        float bandwidth = in.getFloat();
        float latency = in.getFloat();
        require(
                isTime(overhead) && isTime(latency) && Float.isFinite(bandwidth) && bandwidth != 0,
                "a transport has no speed");
        return in.getInt() & 0x3FFFFF00;
    }

    private static boolean isTime(float seconds) {
        return seconds >= 0 && seconds < 1;
    }

    /** Returns the value in the low bits of a byte, which by version 2 is in the next one if they are all set. */
    private int extended(int value, int mask) {
        int low = value & mask;
        return version == 1 && low == mask ? next() : low;
    }

    private int next() {
        return Byte.toUnsignedInt(in.get());
    }

    private void skip(int bytes) {
        if (bytes > in.remaining()) {
            throw new BufferUnderflowException();
        }
        in.position(in.position() + bytes);
    }

    private static void require(boolean good, String complaint) throws IOException {
        if (!good) {
            throw new IOException(complaint);
        }
    }
}

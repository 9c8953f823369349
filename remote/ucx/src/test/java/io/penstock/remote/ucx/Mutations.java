// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import io.penstock.remote.ucx.ffi.Ucp;
import io.penstock.remote.ucx.ffi.UcpCallback;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;

/** Connects workers to addresses that were made from a real one, as a hostile peer might: for a process of its own. */
final class Mutations {

    private static final UcpCallback MESSAGES =
            UcpCallback.of((UcpCallback.MessageHandler) (header, headerBytes, data, bytes, attributes) -> 0);
    private static final UcpCallback ERRORS = UcpCallback.of((UcpCallback.ErrorHandler) status -> {});

    private Mutations() {}

    /** Tries so many; returns how many got as far as UCX, and how many were refused before. */
    static String run(int tries, long seed) throws IOException {
        Random random = new Random(seed);
        Endpoint target = Endpoint.open(MESSAGES, ERRORS);
        byte[] real = target.address();
        int passed = 0;
        for (int i = 0; i < tries; i++) {
            passed += connects(i == 0 ? real : of(real, random)) ? 1 : 0;
        }
        target.destroy();
        return passed + " passed, " + (tries - passed) + " refused";
    }

    private static boolean connects(byte[] address) throws IOException {
        Endpoint own = Endpoint.open(MESSAGES, ERRORS);
        try {
            WorkerAddress.check(own.address(), address);
        } catch (IOException e) {
            own.destroy();
            return false;
        }
        try {
            own.connect(address);
            long header = UcxContext.allocate(Message.BYTES);
            own.send(header, 0, 0, Ucp.UCS_MEMORY_TYPE_HOST);
            for (int i = 0; i < 20; i++) {
                own.progress();
            }
            own.close();
            for (int i = 0; i < 20; i++) {
                own.progress();
            }
        } catch (IOException e) {
            // UCX knows no way to it
        }
        own.destroy();
        return true;
    }

    /** Returns another text in place of an address. */
    static byte[] of(byte[] real, Random random) {
        byte[] bytes = real.clone();
        switch (random.nextInt(8)) {
            case 0 -> {
                return Arrays.copyOf(bytes, random.nextInt(bytes.length));
            }
            case 1 -> {
                return Arrays.copyOf(bytes, bytes.length + 1 + random.nextInt(50));
            }
            case 2 -> random.nextBytes(bytes);
            case 3 -> Arrays.fill(bytes, random.nextInt(bytes.length), bytes.length, (byte) random.nextInt());
            default -> {
                for (int i = 1 + random.nextInt(4); i > 0; i--) {
                    int at = random.nextInt(bytes.length);
                    bytes[at] = (byte) (random.nextBoolean() ? random.nextInt() : bytes[at] ^ 1 << random.nextInt(8));
                }
            }
        }
        return bytes;
    }
}

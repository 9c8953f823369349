// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * One variant of the C peers.
 *
 * @param order the order to {@code peers.c}
 * @param check the order to check afterwards, or an empty string
 * @param timed whether these peers can time single operations
 */
record PeerContender(PeerProcess peers, String order, String check, boolean timed) implements Contender {

    private static final double MICRO = 1e3;

    /** Creates an instance for peers that do not time single operations. */
    PeerContender(PeerProcess peers, String order, String check) {
        this(peers, order, check, false);
    }

    @Override
    public Measure run(long nanos) throws Exception {
        String[] answer = peers.order("run " + order);
        double median = Double.parseDouble(answer[3]);
        long operations = Long.parseLong(answer[0]);
        long cpuNanos = Long.parseLong(answer[2]);
        if (median > 0) {
            return new Measure(1, (long) median, cpuNanos / operations);
        }
        return new Measure(operations, Long.parseLong(answer[1]), cpuNanos);
    }

    @Override
    public @Nullable Latency latency(long nanos) throws Exception {
        if (!timed) {
            return null;
        }
        String[] answer = peers.order("run " + order + " timed=1");
        Latency latency = new Latency(micros(answer[4]), micros(answer[5]), micros(answer[6]));
        return latency.p50() > 0 ? latency : null; // such as of a ring, whose operations overlap
    }

    private static double micros(String nanos) {
        return Double.parseDouble(nanos) / MICRO;
    }

    @Override
    public void verify() throws IOException {
        if (check.isEmpty()) {
            return;
        }
        try {
            String[] answer = peers.order("check " + check);
            Device.none(Long.parseLong(answer[0]));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /** The C peers stay for the next row; the others take memory that they would keep. */
    @Override
    public void close() {
        if (!timed) {
            peers.close();
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;

/**
 * One variant of the C peers.
 *
 * @param order the order to {@code peers.c}
 * @param check the order to check afterwards, or an empty string
 */
record PeerContender(String name, PeerProcess peers, String order, String check) implements Contender {

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
    public void verify() throws IOException {
        if (check.isEmpty()) {
            return;
        }
        try {
            String[] answer = peers.order("check " + check);
            if (!answer[0].equals("0")) {
                throw new IOException(name + ": " + answer[0] + " wrong words");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}

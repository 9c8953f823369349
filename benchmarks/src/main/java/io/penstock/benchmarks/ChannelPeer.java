// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.CompletionHandler;
import java.nio.file.StandardOpenOption;

/** The JDK's asynchronous channel, with its own pool. */
final class ChannelPeer extends SlotLoop implements CompletionHandler<Integer, Integer> {

    private final AsynchronousFileChannel channel;

    ChannelPeer(Workload workload) throws IOException {
        super(workload, Slots.allocate(workload));
        channel = AsynchronousFileChannel.open(workload.file(), StandardOpenOption.READ);
    }

    @Override
    public String name() {
        return "AsynchronousFileChannel";
    }

    @Override
    void begin(int slot, long offset) {
        channel.read(slots.block(slot).clear(), offset, slot, this);
    }

    @Override
    public void completed(Integer bytes, Integer slot) {
        completed((int) slot, (int) bytes);
    }

    @Override
    public void failed(Throwable cause, Integer slot) {
        failed(cause);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}

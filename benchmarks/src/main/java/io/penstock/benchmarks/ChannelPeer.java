// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.CompletionHandler;
import java.nio.file.StandardOpenOption;

/** The JDK's asynchronous channel, with its own pool. */
final class ChannelPeer extends ChainLoop implements CompletionHandler<Integer, Integer> {

    private final AsynchronousFileChannel channel;

    ChannelPeer(Workload workload) throws IOException {
        super(workload, Chains.allocate(workload));
        channel = AsynchronousFileChannel.open(workload.file(), StandardOpenOption.READ);
    }

    @Override
    public String name() {
        return "AsynchronousFileChannel";
    }

    @Override
    void begin(int chain, long offset) {
        channel.read(chains.block(chain).clear(), offset, chain, this);
    }

    @Override
    public void completed(Integer bytes, Integer chain) {
        completed((int) chain, (int) bytes);
    }

    @Override
    public void failed(Throwable cause, Integer chain) {
        failed(cause);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}

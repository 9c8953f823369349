// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.file.AsyncFile;
import io.vertx.core.file.OpenOptions;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** Vert.x: reads on its worker pool, results on an event loop. Its buffers are its own. */
final class VertxPeer extends ChainLoop {

    private static final int CLOSE_SECONDS = 30;

    private final Vertx vertx = Vertx.vertx();
    private final Context context = vertx.getOrCreateContext();
    private final AsyncFile file;
    private final Buffer[] buffers;

    VertxPeer(Workload workload) {
        super(workload, Chains.allocate(workload));
        buffers = new Buffer[workload.depth()];
        for (int chain = 0; chain < buffers.length; chain++) {
            buffers[chain] = Buffer.buffer(new byte[workload.blockBytes()]);
        }
        file = vertx.fileSystem().openBlocking(workload.file().toString(), new OpenOptions().setWrite(false));
    }

    @Override
    public String name() {
        return "Vert.x AsyncFile";
    }

    @Override
    void beginAll() {
        context.runOnContext(nothing -> super.beginAll());
    }

    @Override
    void begin(int chain, long offset) {
        file.read(buffers[chain], 0, offset, workload.blockBytes()).onComplete(read -> {
            if (read.failed()) {
                failed(read.cause());
            } else {
                completed(chain, read.result().length());
            }
        });
    }

    @Override
    public void verify() throws IOException {
        for (int chain = 0; chain < buffers.length; chain++) {
            chains.block(chain).clear().put(buffers[chain].getBytes());
        }
        super.verify();
    }

    @Override
    public void close() throws Exception {
        // Bounded, since it may wait for a read that does not complete.
        file.close().toCompletionStage().toCompletableFuture().get(CLOSE_SECONDS, TimeUnit.SECONDS);
        vertx.close().toCompletionStage().toCompletableFuture().get(CLOSE_SECONDS, TimeUnit.SECONDS);
    }
}

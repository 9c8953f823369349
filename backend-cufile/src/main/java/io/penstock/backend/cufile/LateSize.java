// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.backend.cufile.cuda.LateWord;

/**
 * How many bytes a transfer that a {@link CudaStream} carries is to read, found out by what stands in the stream before
 * it: a kernel writes the 64-bit word at {@link #nativeHandle()}, or the host calls {@link #set}. The stream reads it
 * when it comes to the transfer.
 *
 * <p><b>Result:</b> the completion's bytes are what was read. What the target has behind them is undefined.
 *
 * <p><b>Ownership:</b> whoever made it closes it, once the transfers that read it are enqueued: the word stays until the
 * stream has passed these.
 */
public final class LateSize implements AutoCloseable {

    final LateWord word;

    LateSize(LateWord word) {
        this.word = word;
    }

    /** Returns the CUdeviceptr of the word, for kernels. */
    public long nativeHandle() {
        return word.deviceAddress();
    }

    /** Sets the word; seen by a stream that comes to the transfer after this. */
    public void set(long bytes) {
        word.set(bytes);
    }

    @Override
    public void close() {
        word.close();
    }
}

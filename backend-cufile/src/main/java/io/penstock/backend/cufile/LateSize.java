// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.backend.cufile.cuda.LateWord;

/**
 * The size of a read on a {@link CudaStream}, computed by earlier work in the stream: a kernel writes the 64-bit word
 * at {@link #nativeHandle()}, or the host calls {@link #set}. The stream reads the word when it reaches the transfer.
 *
 * <p><b>Result:</b> the completion reports the bytes read. The rest of the target is undefined.
 *
 * <p><b>Ownership:</b> its creator closes it once the transfers that read it are enqueued; the word lives until the
 * stream has completed them.
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

    /** Sets the word, visible to a stream that reaches the transfer after this call. */
    public void set(long bytes) {
        word.set(bytes);
    }

    @Override
    public void close() {
        word.close();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.device;

import io.penstock.backend.cufile.cuda.CudaContext;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One allocation of a GPU's memory. Compared as an object: an address may come again. */
public final class GpuSpan {

    /** What a path keeps beside an allocation. */
    public interface Attachment {

        /** Ends it for good, while the memory is still there. */
        void end();
    }

    private final CudaContext context;
    private final long address;
    private final long bytes;
    private volatile @Nullable Attachment attachment;
    private boolean ended; // guarded by this
    int parts; // handed out; of GpuSlabs, under its lock

    GpuSpan(CudaContext context, long address, long bytes) {
        this.context = context;
        this.address = address;
        this.bytes = bytes;
    }

    public CudaContext context() {
        return context;
    }

    public long address() {
        return address;
    }

    public long bytes() {
        return bytes;
    }

    /** Returns what a path keeps beside the allocation, made when it is first asked for; of one type. */
    public <T extends Attachment> T attachment(Class<T> type, Function<GpuSpan, T> make) {
        Attachment known = attachment;
        return type.cast(known != null ? known : attach(make));
    }

    private synchronized Attachment attach(Function<GpuSpan, ? extends Attachment> make) {
        Attachment known = attachment;
        if (known == null) {
            known = make.apply(this);
            attachment = known;
            if (ended) {
                known.end();
            }
        }
        return known;
    }

    /** Ends what is kept beside it, since the memory is about to be freed; nothing uses it any more. Blocks. */
    void end() {
        Attachment known;
        synchronized (this) {
            ended = true;
            known = attachment;
        }
        if (known != null) {
            known.end();
        }
    }
}

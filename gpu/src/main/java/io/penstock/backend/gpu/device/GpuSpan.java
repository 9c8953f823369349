// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.device;

import io.penstock.backend.gpu.context.GpuContext;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One allocation of GPU memory. Compared by identity: an address may be reused. */
public final class GpuSpan {

    /** State that a path attaches to an allocation. */
    public interface Attachment {

        /** Ends the attachment, while the memory is still allocated. */
        void end();
    }

    private final GpuContext context;
    private final long address;
    private final long bytes;
    private volatile @Nullable Attachment attachment;
    private boolean ended; // guarded by this
    int parts; // parts in use; guarded by the lock of GpuSlabs

    GpuSpan(GpuContext context, long address, long bytes) {
        this.context = context;
        this.address = address;
        this.bytes = bytes;
    }

    public GpuContext context() {
        return context;
    }

    public long address() {
        return address;
    }

    public long bytes() {
        return bytes;
    }

    /** Returns the attachment of a type, created on first use. */
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

    /** Ends the attachments, before the memory is freed; nothing may use it any more. Blocks. */
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

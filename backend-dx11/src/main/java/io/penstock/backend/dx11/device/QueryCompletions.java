// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.device;

import io.penstock.backend.dx11.ffi.Com;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.engine.spi.NativeFailure;
import org.jspecify.annotations.Nullable;

/** Marks that are event queries, one each: every Direct3D 11 device supports them. */
final class QueryCompletions implements CopyCompletions {

    private static final int[] EVENT_QUERY = {D3d11.Query.EVENT, 0};

    private final long device;
    private final long context;

    /** Creates the marks of a device, which outlives them. */
    QueryCompletions(long device, long context) {
        this.device = device;
        this.context = context;
    }

    @Override
    public void equip(CopyMark mark) {
        long[] query = new long[1];
        int result = D3d11.CreateQuery(device, EVENT_QUERY, query);
        Dx11Failure.check("a query for a mark", "ID3D11Device::CreateQuery", result, device);
        mark.value = query[0];
    }

    @Override
    public void strip(CopyMark mark) {
        Com.Release(mark.value);
    }

    @Override
    public @Nullable NativeFailure mark(CopyMark mark) {
        D3d11.End(context, mark.value);
        mark.polls = 0;
        mark.failure = null;
        return null;
    }

    @Override
    public boolean poll(CopyMark mark) {
        // The first poll flushes the issued commands.
        int flags = mark.polls == 0 ? 0 : D3d11.GETDATA_DONOTFLUSH;
        int state = D3d11.GetData(context, mark.value, mark.dataCell(), Integer.BYTES, flags);
        if (state == Hresult.S_OK) {
            return true;
        }
        if (Hresult.failed(state)) {
            mark.failure = Dx11Failure.of("ID3D11DeviceContext::GetData", state, device);
            return true;
        }
        // Some drivers never signal the queries of a removed device.
        int reason = ++mark.polls % POLLS_PER_CHECK == 0 ? D3d11.GetDeviceRemovedReason(device) : Hresult.S_OK;
        if (Hresult.failed(reason)) {
            mark.failure = Dx11Failure.removed(reason, device);
        }
        return mark.failure != null;
    }

    @Override
    public long fence() {
        long[] query = new long[1];
        if (Hresult.failed(D3d11.CreateQuery(device, EVENT_QUERY, query))) {
            return 0;
        }
        D3d11.End(context, query[0]);
        D3d11.Flush(context);
        return query[0];
    }

    @Override
    public String toString() {
        return "event queries";
    }
}

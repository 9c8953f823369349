// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.backend.dx11.ffi.D3d11Context;
import io.penstock.backend.dx11.ffi.D3d11Device;
import io.penstock.backend.dx11.ffi.D3d11Query;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.backend.dx11.ffi.Unknown;
import io.penstock.engine.spi.NativeFailure;
import org.jspecify.annotations.Nullable;

/** Marks that are event queries, one for each: every Direct3D 11 has them. */
final class QueryEnds implements CopyEnds {

    private static final int[] EVENT_QUERY = {D3d11Query.EVENT, 0};

    private final Dx11Device device;

    QueryEnds(Dx11Device device) {
        this.device = device;
    }

    @Override
    public void equip(CopyMark mark) {
        long[] query = new long[1];
        int result = D3d11Device.CreateQuery(device.handle(), EVENT_QUERY, query);
        device.check("a query for a mark", "ID3D11Device::CreateQuery", result);
        mark.passed = query[0];
    }

    @Override
    public void strip(CopyMark mark) {
        Unknown.Release(mark.passed);
    }

    @Override
    public @Nullable NativeFailure mark(CopyMark mark) {
        D3d11Context.End(device.context(), mark.passed);
        mark.looks = 0;
        mark.failure = null;
        return null;
    }

    @Override
    public boolean look(CopyMark mark) {
        // The first look sends what was issued on its way.
        int flags = mark.looks == 0 ? 0 : D3d11Context.GETDATA_DONOTFLUSH;
        int state = D3d11Context.GetData(device.context(), mark.passed, mark.dataCell(), Integer.BYTES, flags);
        if (state == Hresult.S_OK) {
            return true;
        }
        if (Hresult.failed(state)) {
            mark.failure = Dx11Call.GET_DATA.failure(state, device);
            return true;
        }
        // Some drivers never end the queries of a device that was removed.
        int reason = ++mark.looks % LOOKS == 0 ? device.removedReason() : Hresult.S_OK;
        if (Hresult.failed(reason)) {
            mark.failure = Dx11Call.GET_REMOVED_REASON.failure(reason, device);
        }
        return mark.failure != null;
    }

    @Override
    public boolean ring(long event) {
        return false;
    }

    @Override
    public long fence() {
        long[] query = new long[1];
        if (Hresult.failed(D3d11Device.CreateQuery(device.handle(), EVENT_QUERY, query))) {
            return 0;
        }
        D3d11Context.End(device.context(), query[0]);
        D3d11Context.Flush(device.context());
        return query[0];
    }

    @Override
    public void close() {
        // nothing is held
    }

    @Override
    public String toString() {
        return "event queries";
    }
}

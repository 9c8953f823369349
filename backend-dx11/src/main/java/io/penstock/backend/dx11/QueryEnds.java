// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.backend.dx11.ffi.D3d11Context;
import io.penstock.backend.dx11.ffi.D3d11Device;
import io.penstock.backend.dx11.ffi.D3d11Query;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.backend.dx11.ffi.Unknown;

/** Marks that are event queries, one for each slot: every Direct3D 11 has them. */
final class QueryEnds implements CopyEnds {

    private static final int[] EVENT_QUERY = {D3d11Query.EVENT, 0};

    private final Dx11Device device;

    QueryEnds(Dx11Device device) {
        this.device = device;
    }

    @Override
    public void equip(Dx11Slot slot) {
        long[] query = new long[1];
        int result = D3d11Device.CreateQuery(device.handle(), EVENT_QUERY, query);
        device.check("a query for a slot", "ID3D11Device::CreateQuery", result);
        slot.mark = query[0];
    }

    @Override
    public void strip(Dx11Slot slot) {
        Unknown.Release(slot.mark);
    }

    @Override
    public long mark(Dx11Slot slot) {
        D3d11Context.End(device.context(), slot.mark);
        slot.looks = 0;
        return 0;
    }

    @Override
    public long look(Dx11Slot slot) {
        // The first look sends what was issued on its way.
        int flags = slot.looks == 0 ? 0 : D3d11Context.GETDATA_DONOTFLUSH;
        int state = D3d11Context.GetData(device.context(), slot.mark, slot.dataCell(), Integer.BYTES, flags);
        if (state == Hresult.S_OK) {
            return 1;
        }
        if (Hresult.failed(state)) {
            return Dx11Call.GET_DATA.failed(state);
        }
        // Some drivers never end the queries of a device that was removed.
        int reason = ++slot.looks % LOOKS == 0 ? device.removedReason() : Hresult.S_OK;
        return Hresult.failed(reason) ? Dx11Call.GET_REMOVED_REASON.failed(reason) : 0;
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

// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.Availability;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.backend.dx11.device.Adapter;
import io.penstock.backend.dx11.device.DeviceChoice;
import io.penstock.backend.dx11.ffi.Com;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.backend.dx11.paths.Dx11Provider;
import io.penstock.tck.Require;
import org.jspecify.annotations.Nullable;

/** The Direct3D 11 of this machine, for tests. */
final class Dx11s {

    private static @Nullable Availability found; // a list of adapters takes Wine long
    private static long shared;

    private Dx11s() {}

    /** Skips the test where there is none; a failure where {@code PENSTOCK_REQUIRE} names {@code dx11}. */
    static synchronized void require() {
        if (found == null) {
            found = new Dx11Provider().probe(resolved(Options.none()));
        }
        Require.backend("dx11", found);
    }

    /** Returns options for a device that the application has, one for all tests: making one takes Wine long. */
    static synchronized Options shared() {
        return Options.none().with(Dx11Options.DEVICE, sharedDevice());
    }

    /** Returns that device, as an option has it. */
    static synchronized String sharedDevice() {
        if (shared == 0) {
            shared = device();
        }
        return "0x" + Long.toHexString(shared);
    }

    static Options resolved(Options options) {
        return options.resolve(Backends.options());
    }

    /** Makes a device as an application would, with a reference of the caller's. */
    static long device() {
        require();
        long[] device = new long[1];
        int result =
                DeviceChoice.of(resolved(Options.none())).among(Adapter.all()).createDevice(device);
        if (Hresult.failed(result)) {
            throw new AssertionError("D3D11CreateDevice -> " + Hresult.describe(result));
        }
        return device[0];
    }

    /** Makes a buffer as an application would, with a reference of the caller's. */
    static long buffer(long device, int bytes, int usage) {
        int bind = usage == D3d11.USAGE_STAGING ? 0 : 1; // for vertices
        int access = switch (usage) {
            case D3d11.USAGE_DYNAMIC -> D3d11.CPU_ACCESS_WRITE;
            case D3d11.USAGE_STAGING -> D3d11.CPU_ACCESS_WRITE | D3d11.CPU_ACCESS_READ;
            default -> 0;
        };
        long[] buffer = new long[1];
        int result = D3d11.CreateBuffer(device, new int[] {bytes, usage, bind, access, 0, 0}, 0, buffer);
        if (Hresult.failed(result)) {
            throw new AssertionError("CreateBuffer -> " + Hresult.describe(result));
        }
        return buffer[0];
    }

    /** Returns how many references there are of an object. */
    static int references(long object) {
        Com.AddRef(object);
        return Com.Release(object);
    }

    /** Returns options for the application's device. */
    static Options on(long device) {
        return Options.none().with(Dx11Options.DEVICE, "0x" + Long.toHexString(device));
    }
}

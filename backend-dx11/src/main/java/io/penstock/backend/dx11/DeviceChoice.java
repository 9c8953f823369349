// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.Options;
import io.penstock.backend.dx11.ffi.Direct3d;
import io.penstock.backend.dx11.ffi.Dxgi;
import io.penstock.engine.spi.ffi.Machine;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Which device options ask for; each answer is for one question, so that a machine may change in between.
 *
 * @param application the application's ID3D11Device, or 0 where it is to be ours
 * @param adapter what {@link Dx11Options#ADAPTER} says, in lower case
 */
record DeviceChoice(long application, String adapter) {

    private static final String BEST = "best";
    private static final String WARP = "warp";

    /** Reads them. */
    static DeviceChoice of(Options options) {
        String adapter = options.get(Dx11Options.ADAPTER).strip().toLowerCase(Locale.ROOT);
        return new DeviceChoice(application(options), adapter.isEmpty() ? BEST : adapter);
    }

    /** Loads Direct3D; returns why there is none here, or an empty string. */
    static String load(Options options) {
        if (!Machine.operatingSystem().startsWith("windows")) {
            return "Direct3D 11 is a part of Windows, and this is " + Machine.operatingSystem();
        }
        if (!Machine.architecture().equals("amd64")) {
            return "COM calls are made for x86-64 only, and this is " + Machine.architecture();
        }
        if (!NativeMemory.isAvailable()) {
            return "JNA cannot be loaded";
        }
        String direct3d = Direct3d.load(options.get(Dx11Options.D3D11));
        String dxgi = Dxgi.load("");
        return direct3d.isEmpty() ? dxgi : direct3d;
    }

    boolean isWarp() {
        return adapter.equals(WARP);
    }

    /**
     * Returns the adapter that is meant, for a device of ours that is not WARP's.
     *
     * @throws io.penstock.BackendUnavailableException if it is not among these
     */
    Adapter among(List<Adapter> adapters) {
        if (adapters.isEmpty()) {
            throw Dx11Failure.unavailable("there is no graphics adapter");
        }
        return adapters.stream()
                .filter(this::means)
                .findFirst()
                .or(() -> adapter.equals(BEST) ? adapters.stream().findFirst() : Optional.empty())
                .orElseThrow(() -> Dx11Failure.unavailable(
                        "no adapter is " + Dx11Options.ADAPTER + "=" + adapter + "; there are " + adapters));
    }

    private boolean means(Adapter candidate) {
        return switch (adapter) {
            case BEST -> candidate.hardware();
            default ->
                adapter.equals(Integer.toString(candidate.index()))
                        || (!isNumber()
                                && candidate.name().toLowerCase(Locale.ROOT).contains(adapter));
        };
    }

    private boolean isNumber() {
        return adapter.chars().allMatch(Character::isDigit);
    }

    private static long application(Options options) {
        String text = options.get(Dx11Options.DEVICE).strip();
        if (text.equals("own")) {
            return 0;
        }
        try {
            long address = Long.decode(text);
            if (address > 0) {
                return address;
            }
        } catch (NumberFormatException e) {
            // told below
        }
        throw new IllegalArgumentException(options.source(Dx11Options.DEVICE) + " says " + Dx11Options.DEVICE + "="
                + text + ", but it takes own, or the address of an ID3D11Device");
    }
}

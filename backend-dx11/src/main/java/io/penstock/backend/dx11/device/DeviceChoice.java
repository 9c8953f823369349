// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.device;

import io.penstock.Options;
import io.penstock.backend.dx11.Dx11Options;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.backend.dx11.ffi.Dxgi;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The device that the options select; nothing is cached between calls, so the machine may change in between.
 *
 * @param application the application's ID3D11Device, or 0 for a device that the backend creates
 * @param adapter the value of {@link Dx11Options#ADAPTER}, in lower case
 */
public record DeviceChoice(long application, String adapter) {

    private static final String BEST = "best";
    private static final String WARP = "warp";

    /** Reads the options. */
    public static DeviceChoice of(Options options) {
        String adapter = options.get(Dx11Options.ADAPTER).strip().toLowerCase(Locale.ROOT);
        return new DeviceChoice(application(options), adapter.isEmpty() ? BEST : adapter);
    }

    /** Loads Direct3D; returns why it is not available, or an empty string. */
    public static String load(Options options) {
        if (!Machine.operatingSystem().startsWith("windows")) {
            return "Direct3D 11 is a part of Windows, and this is " + Machine.operatingSystem();
        }
        if (!Machine.architecture().equals("amd64")) {
            return "COM calls are made for x86-64 only, and this is " + Machine.architecture();
        }
        if (!NativeMemory.isAvailable()) {
            return "JNA cannot be loaded";
        }
        String direct3d = D3d11.Exports.LIBRARY.load(options.get(Dx11Options.D3D11));
        String dxgi = Dxgi.Exports.LIBRARY.load("");
        return direct3d.isEmpty() ? dxgi : direct3d;
    }

    /** Returns true if Microsoft's software renderer is selected. */
    public boolean isWarp() {
        return adapter.equals(WARP);
    }

    /**
     * Returns the selected adapter, for a device that the backend creates and that is not WARP's.
     *
     * @throws io.penstock.BackendUnavailableException if it is not among these
     */
    public Adapter among(List<Adapter> adapters) {
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
        String text = options.get(Dx11Options.DEVICE);
        return text.equals("own") ? 0 : Long.decode(text);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.NativeError;
import io.penstock.backend.dx11.ffi.AmdDriver;
import io.penstock.backend.dx11.ffi.AmdExtension;
import io.penstock.backend.dx11.ffi.AmdSsg;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.engine.spi.ssg.SsgRefusal;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * AMD's {@code IAmdDxExtSSG} of one device, and what it says of its version.
 *
 * <p><b>Threading:</b> the manual says nothing of threads. Transfers are submitted by one, the lane's; files are opened
 * and closed, and events waited for and destroyed, by others meanwhile.
 *
 * <p><b>Ownership:</b> the backend, its lane, its files and its slots count as users; the last to {@link #leave} lets go of
 * the interface, of the extension and of the device.
 */
final class SsgInterface {

    private final Dx11Device device;
    private final SsgTerms terms;
    private final AtomicInteger users = new AtomicInteger(1);
    private final long extension;
    private final long ssg;
    private final String version;

    private SsgInterface(Dx11Device device, SsgTerms terms, long[] objects, String version) {
        this.device = device;
        this.terms = terms;
        this.extension = objects[0];
        this.ssg = objects[1];
        this.version = version;
    }

    /**
     * Asks the driver of a device for it.
     *
     * @param library of the driver; empty for the system's
     * @throws SsgRefusal with the reason, where there is none
     */
    static SsgInterface open(Dx11Device device, SsgTerms terms, String library) throws SsgRefusal {
        String why = AmdDriver.load(library);
        if (!why.isEmpty()) {
            throw new SsgRefusal("AMD's driver cannot be loaded: " + why);
        }
        long[] extension = new long[1];
        int created = AmdDriver.AmdDxExtCreate11(device.handle(), extension);
        check("AMD's extensions", "AmdDxExtCreate11", created);
        if (extension[0] == 0) {
            throw new SsgRefusal("AmdDxExtCreate11 gives no extension for this device, and no error");
        }
        long ssg = AmdExtension.GetExtInterface(extension[0], terms.interfaceId());
        if (ssg == 0) {
            AmdExtension.Release(extension[0]);
            throw new SsgRefusal("the driver has no interface 0x" + Integer.toHexString(terms.interfaceId())
                    + ": IAmdDxExt::GetExtInterface -> NULL");
        }
        try {
            String version = version(ssg, terms.layout());
            device.join();
            return new SsgInterface(device, terms, new long[] {extension[0], ssg}, version);
        } catch (SsgRefusal | RuntimeException e) {
            AmdSsg.Release(ssg);
            AmdExtension.Release(extension[0]);
            throw e;
        }
    }

    private static String version(long ssg, SsgLayout layout) throws SsgRefusal {
        byte[] told = new byte[layout.version().bytes()];
        int result = AmdSsg.GetExtensionVersion(ssg, told);
        check("the extension's version", "IAmdDxExtSSG::GetExtensionVersion", result);
        SsgLayout.Shape version = layout.version();
        return version.get(told, "major") + "." + version.get(told, "minor") + ", liquid flash build "
                + version.get(told, "build");
    }

    SsgTerms terms() {
        return terms;
    }

    SsgLayout layout() {
        return terms.layout();
    }

    /** Returns the interface's address. */
    long handle() {
        return ssg;
    }

    /** Returns its version, as its driver counts. */
    String version() {
        return version;
    }

    Dx11Device device() {
        return device;
    }

    /** Counts one more user; only while there is one. */
    void join() {
        users.incrementAndGet();
    }

    /** Counts one user less; the last lets go of all. */
    void leave() {
        if (users.decrementAndGet() == 0) {
            AmdSsg.Release(ssg);
            AmdExtension.Release(extension);
            device.leave();
        }
    }

    /** Goes on if an answer is a success. */
    static void check(String request, String call, int result) throws SsgRefusal {
        if (Hresult.failed(result)) {
            throw new SsgRefusal(request, Dx11Failure.error(call, result));
        }
    }

    /** Returns what a call of it came to. */
    static NativeError error(String method, int result) {
        return Dx11Failure.error("IAmdDxExtSSG::" + method, result);
    }
}

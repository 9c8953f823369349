// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ssg;

import io.penstock.Options;
import io.penstock.backend.dx11.Dx11Options;
import io.penstock.backend.dx11.device.Dx11Failure;
import io.penstock.backend.dx11.ffi.AmdDx;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.engine.kit.ssg.SsgRefusal;

/**
 * The {@code IAmdDxExtSSG} of one device, as returned by AMD's driver.
 *
 * @param extension that it belongs to
 * @param handle its address
 * @param version as reported by the driver
 */
record SsgInterface(long extension, long handle, SsgHeader header, String version) {

    /**
     * Queries the driver of a device for it.
     *
     * @throws SsgRefusal with the reason, if it is not available
     */
    static SsgInterface open(long device, Options options) throws SsgRefusal {
        SsgHeader header = SsgHeader.of(options);
        String why = AmdDx.Exports.load(options.get(Dx11Options.SSG_LIBRARY));
        if (!why.isEmpty()) {
            throw new SsgRefusal("AMD's driver cannot be loaded: " + why);
        }
        long[] extension = new long[1];
        int created = AmdDx.Exports.AmdDxExtCreate11(device, extension);
        check("AMD's extensions", "AmdDxExtCreate11", created);
        if (extension[0] == 0) {
            throw new SsgRefusal("AmdDxExtCreate11 returned no extension for this device, and no error");
        }
        int id = header.number("interface");
        long ssg = AmdDx.GetExtInterface(extension[0], id);
        if (ssg == 0) {
            AmdDx.Release(extension[0]);
            throw new SsgRefusal("the driver has no interface 0x" + Integer.toHexString(id)
                    + ": IAmdDxExt::GetExtInterface -> NULL");
        }
        byte[] description = new byte[header.bytes("version")];
        int result = AmdDx.GetExtensionVersion(ssg, description);
        String version = header.field("version", "major").get(description) + "."
                + header.field("version", "minor").get(description) + ", liquid flash build "
                + header.field("version", "build").get(description);
        SsgInterface opened = new SsgInterface(extension[0], ssg, header, version);
        try {
            check("the extension's version", "IAmdDxExtSSG::GetExtensionVersion", result);
            return opened;
        } catch (SsgRefusal e) {
            opened.release();
            throw e;
        }
    }

    void release() {
        AmdDx.Release(handle);
        AmdDx.Release(extension);
    }

    /** Throws {@link SsgRefusal} if a result is a failure. */
    static void check(String request, String call, int result) throws SsgRefusal {
        if (Hresult.failed(result)) {
            throw new SsgRefusal(request, Dx11Failure.error(call, result));
        }
    }
}

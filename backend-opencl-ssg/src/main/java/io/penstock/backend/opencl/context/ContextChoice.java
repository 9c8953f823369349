// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.context;

import io.penstock.Options;
import io.penstock.PenstockException;
import io.penstock.backend.opencl.OpenClOptions;
import io.penstock.backend.opencl.cl.Info;
import io.penstock.backend.opencl.cl.OpenClDevice;
import io.penstock.backend.opencl.cl.OpenClFailure;
import io.penstock.backend.opencl.ffi.OpenCl;
import java.util.Arrays;
import java.util.List;

/**
 * The device and context that the options select.
 *
 * @param device the device
 * @param application the application's cl_context, or 0 if Penstock creates one
 */
public record ContextChoice(OpenClDevice device, long application) {

    /**
     * Resolves the options; creates no context.
     *
     * @throws io.penstock.BackendUnavailableException if there are none; the message has the reason
     */
    public static ContextChoice of(Options options, OpenClPlatforms platforms) {
        if (!platforms.isUsable()) {
            throw OpenClFailure.unavailable(platforms.reason() + "; " + platforms.remedy());
        }
        long application = application(options);
        List<OpenClDevice> among = platforms.devices();
        if (application != 0) {
            long[] own = devices(application);
            among = among.stream()
                    .filter(device -> Arrays.stream(own).anyMatch(handle -> handle == device.handle()))
                    .toList();
        }
        return new ContextChoice(DeviceChoice.of(options).among(among), application);
    }

    private static long application(Options options) {
        String text = options.get(OpenClOptions.CONTEXT);
        return text.equals("own") ? 0 : Long.decode(text);
    }

    private static long[] devices(long context) {
        Info info = Info.context(context);
        try {
            return info.handles(OpenCl.CL_CONTEXT_DEVICES, info.number(OpenCl.CL_CONTEXT_NUM_DEVICES));
        } catch (PenstockException unknown) {
            throw OpenClFailure.unavailable(String.valueOf(unknown.getMessage()));
        }
    }
}

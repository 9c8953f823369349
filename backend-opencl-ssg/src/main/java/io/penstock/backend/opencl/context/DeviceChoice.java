// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.context;

import io.penstock.Options;
import io.penstock.backend.opencl.OpenClOptions;
import io.penstock.backend.opencl.cl.OpenClDevice;
import io.penstock.backend.opencl.cl.OpenClFailure;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;

/**
 * The device that an option selects.
 *
 * <p>Of several that match, the best: usable, with the SSG extension, GPU before accelerator before processor, more
 * memory first, and of equal ones the lowest number.
 */
record DeviceChoice(String wanted) {

    private static final List<String> KINDS = List.of("gpu", "accelerator", "custom", "cpu");

    private static final Comparator<OpenClDevice> BEST_FIRST = Comparator.comparing(
                    (OpenClDevice device) -> !device.whyNot().isEmpty())
            .thenComparing(device -> !device.claimsSsg())
            .thenComparing(device -> KINDS.indexOf(device.kind()))
            .thenComparing(OpenClDevice::bytes, Comparator.reverseOrder())
            .thenComparing(OpenClDevice::index);

    static DeviceChoice of(Options options) {
        return new DeviceChoice(options.get(OpenClOptions.DEVICE).strip());
    }

    /**
     * Returns the device.
     *
     * @param among the devices found
     * @throws io.penstock.BackendUnavailableException if none matches, or the match cannot be used; the message lists
     *     all
     */
    OpenClDevice among(List<OpenClDevice> among) {
        OpenClDevice chosen = among.stream()
                .filter(matches())
                .min(BEST_FIRST)
                .orElseThrow(() -> OpenClFailure.unavailable(
                        "no device: " + OpenClOptions.DEVICE + "=" + wanted + " matches none of " + among));
        String whyNot = chosen.whyNot();
        if (!whyNot.isEmpty()) {
            throw OpenClFailure.unavailable(whyNot);
        }
        return chosen;
    }

    private Predicate<OpenClDevice> matches() {
        String text = wanted.toLowerCase(Locale.ROOT);
        if (text.equals("best")) {
            return device -> true;
        }
        if (text.equals("ssg")) {
            return OpenClDevice::claimsSsg;
        }
        if (KINDS.contains(text)) {
            return device -> device.kind().equals(text);
        }
        if (text.matches("\\d{1,9}")) {
            return device -> device.index() == Integer.parseInt(text);
        }
        return device -> device.name().toLowerCase(Locale.ROOT).contains(text)
                || device.platform().name().toLowerCase(Locale.ROOT).contains(text);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.vfio;

import io.penstock.Availability;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Finds out whether a controller can be opened, without opening it. */
public final class VfioProbe {

    private VfioProbe() {}

    /**
     * Returns whether the controller at {@code address} can be opened, with a line for each of the machine's.
     *
     * @param option the option that names the controller, for messages
     */
    public static Availability probe(String address, String option) {
        return probe(Path.of("/"), address, option);
    }

    /** As above, in the file tree of a test. */
    static Availability probe(Path root, String address, String option) {
        List<PciDevice> controllers = PciDevice.controllers(root);
        List<String> details = controllers.stream().map(PciDevice::toString).toList();
        if (controllers.isEmpty()) {
            return Availability.absent(
                    "there is no NVMe controller on PCI Express", "use it on a machine that has one");
        }
        if (address.isEmpty()) {
            return new Availability(
                    false, true, "no controller is named", "set " + option + " to the PCI address of one", details);
        }
        Optional<PciDevice> device = PciDevice.find(root, address);
        if (device.isEmpty()) {
            return new Availability(
                    false,
                    true,
                    "there is no NVMe controller at " + address,
                    "set " + option + " to one of these",
                    details);
        }
        String refusal = device.get().refusal();
        if (!refusal.isEmpty()) {
            return new Availability(false, true, refusal, device.get().remedy(), details);
        }
        List<String> closed = device.get().closedFiles(root);
        if (!closed.isEmpty()) {
            return new Availability(
                    false,
                    true,
                    String.join(" and ", closed) + (closed.size() > 1 ? " are" : " is") + " not writable by this user",
                    "chown $USER " + String.join(" ", closed),
                    details);
        }
        return Availability.available(true, device.get().way(root), details);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.api;

import java.util.ArrayList;
import java.util.List;

/**
 * The properties that the driver of a file API reports once it is open.
 *
 * @param module the kernel module of a direct path
 * @param moduleMajor its version; 0.0 where it is not loaded
 * @param pollKilobytes the largest operation that it polls for, if it polls
 * @param storage which kinds of storage reach GPU memory: bit n is the n-th of {@link Storage}
 * @param control bit 0: polls; bit 1: may fall back to its POSIX mode by itself
 * @param features bit 0: dynamic routing; 1: batches; 2: streams; 3: its own thread pool
 */
public record DriverProperties(
        String module,
        int moduleMajor,
        int moduleMinor,
        long pollKilobytes,
        long maxDirectIoKilobytes,
        int storage,
        int control,
        int features,
        long deviceCacheKilobytes,
        long perBufferKilobytes,
        long maxPinnedKilobytes,
        int maxBatch,
        int batchTimeoutMillis) {

    /** Kinds of storage, by their bit in {@code dstatusflags}; names are the vendor's. */
    public enum Storage {
        LUSTRE(0),
        WEKAFS(1),
        NFS(2),
        GPFS(3),
        NVME(4),
        NVMEOF(5),
        SCSI(6),
        SCALEFLUX(7),
        NVMESH(8),
        BEEGFS(9),
        NVME_P2P(11),
        SCATEFS(12);

        public final int bit;

        Storage(int bit) {
            this.bit = bit;
        }
    }

    private static final List<String> FEATURES = List.of("dynamic routing", "batches", "streams", "own threads");
    private static final int USE_POLL_MODE = 1;
    private static final int ALLOW_COMPAT = 1 << 1;

    /** Returns true if the module is loaded. */
    public boolean hasModule() {
        return moduleMajor != 0 || moduleMinor != 0;
    }

    public boolean reaches(Storage kind) {
        return (storage & 1 << kind.bit) != 0;
    }

    /** Returns true if it polls for the completion of operations. */
    public boolean polls() {
        return (control & USE_POLL_MODE) != 0;
    }

    /** Returns true if the driver may silently fall back to its POSIX mode. */
    public boolean allowsCompatibility() {
        return (control & ALLOW_COMPAT) != 0;
    }

    /** Returns true if any direct transfer is possible. */
    public boolean mayBeDirect() {
        return hasModule() || reaches(Storage.NVME_P2P);
    }

    /** Returns the kinds of storage that it reaches directly. */
    public List<Storage> reached() {
        List<Storage> reached = new ArrayList<>();
        for (Storage kind : Storage.values()) {
            if (reaches(kind)) {
                reached.add(kind);
            }
        }
        return reached;
    }

    /** Returns a one-line description, for logs. */
    public String describe() {
        String version = hasModule() ? module + " " + moduleMajor + "." + moduleMinor : "no " + module;
        return version + ", direct from " + (reached().isEmpty() ? "nothing" : reached())
                + (allowsCompatibility() ? ", POSIX mode allowed" : ", POSIX mode forbidden")
                + ", batches of " + maxBatch + ", bounce cache " + deviceCacheKilobytes + " KiB in segments of "
                + perBufferKilobytes + " KiB";
    }

    /** Returns a full description, one line each, for humans. */
    public List<String> lines() {
        return List.of(
                describe(),
                "batches end or time out within " + batchTimeoutMillis + " ms",
                "at most " + maxDirectIoKilobytes + " KiB per request to the storage, " + maxPinnedKilobytes
                        + " KiB of GPU memory registered",
                polls() ? "polls for operations of up to " + pollKilobytes + " KiB" : "does not poll",
                "features: " + featureNames());
    }

    private List<String> featureNames() {
        List<String> names = new ArrayList<>();
        for (int bit = 0; bit < FEATURES.size(); bit++) {
            if ((features & 1 << bit) != 0) {
                names.add(FEATURES.get(bit));
            }
        }
        return names;
    }
}

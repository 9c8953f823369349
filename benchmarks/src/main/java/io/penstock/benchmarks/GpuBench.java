// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.benchmarks.ffi.GpuMemoryCheck;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The data that all cufile rows share: the files, the C peers and the check of GPU memory. */
final class GpuBench implements AutoCloseable {

    /** A word that the test file does not contain; fills the targets of reads beforehand. */
    static final long POISON = 1L << 60;

    private static final List<String> LIBRARIES =
            List.of("penstock.cufile.libcuda", "penstock.cufile.libcufile", "penstock.cufile.device");

    private final Settings settings;
    private final CSources sources;
    private final PeerProcess peers;
    private final Path hot;
    private final Path unread;
    private final Path written;

    private GpuBench(Settings settings, CSources sources) throws IOException {
        this.settings = settings;
        this.sources = sources;
        this.peers = new PeerProcess(sources.peers(), libraries());
        this.hot = TestFile.prepare(
                settings.directory().resolve("hot-gpu"), settings.sizes().hotBytes());
        this.unread = TestFile.prepare(
                settings.directory().resolve("hot-gpu-unread"), settings.sizes().hotBytes());
        this.written = settings.directory().resolve("written-gpu");
    }

    /** Compiles the peers and creates the files. */
    static GpuBench open(Settings settings) throws IOException, InterruptedException {
        leaveRoomForMappings(settings.sizes().hotBytes());
        CSources sources = CSources.compile(settings.directory().resolve("c"));
        GpuBench bench = new GpuBench(settings, sources);
        // Puts both sides in the same context; a backend has loaded the driver that the options name.
        try (Backend backend = Backends.open("cufile")) {
            System.out.println(backend.capabilities());
            GpuMemoryCheck.open(sources.attendant());
        }
        return bench;
    }

    /** Two mapped files must fit; the setting is per process, so it applies to all rows. */
    private static void leaveRoomForMappings(long fileBytes) {
        String option = "penstock.cufile.mapped-bytes";
        long memory =
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize();
        if (memory / 4 < 2 * fileBytes && System.getProperty(option) == null) {
            System.setProperty(option, Long.toString(2 * fileBytes));
            System.out.println("in " + (memory >> 20) + " MiB of memory two files would not stay mapped: " + option
                    + " is " + 2 * fileBytes + " in all rows");
        }
    }

    /** Returns the environment that passes the options to the peers. */
    static Map<String, String> libraries() {
        Options options = Options.none().resolve(Backends.options());
        Map<String, String> environment = new HashMap<>();
        for (Option<?> option : Backends.options()) {
            String value = String.valueOf(options.get(option));
            if (LIBRARIES.contains(option.name()) && !value.isEmpty()) {
                environment.put(option.variable(), value);
            }
        }
        return environment;
    }

    Settings.Sizes sizes() {
        return settings.sizes();
    }

    /** Returns the directory for the files of a run. */
    Path directory() {
        return settings.directory();
    }

    /** Returns the file in the page cache. */
    Path hot() {
        return hot;
    }

    /** Returns a similar file, which appears changed before each read. */
    Path unread() {
        return unread;
    }

    /** Returns the file to write. */
    Path written() {
        return written;
    }

    PeerProcess peers() {
        return peers;
    }

    /** Returns options for a path, as {@code penstock.cufile.path} names it; auto leaves all options alone. */
    Options options(String path) {
        Options options = Options.none();
        if (path.equals("auto")) {
            return options;
        }
        return options.with("penstock.cufile.path", path);
    }

    /** Returns the same options with a delivery mode. */
    static Options delivering(Options options, Mode mode) {
        return mode == Mode.DEFAULT ? options : options.with(CommonOptions.DELIVERY, CommonOptions.Delivery.DIRECT);
    }

    /** Returns a C peer that reads the hot file into the GPU. */
    Rounds.Factory reader(String name, String variant, String more) {
        return reader(name, variant, sizes().hotBytes(), more);
    }

    Rounds.Factory reader(String name, String variant, long bytes, String more) {
        String order = variant + " hot=" + hot + " bytes=" + bytes + " " + more;
        return () -> new PeerContender(name, peers, order, variant.equals("link") ? "" : "same", true);
    }

    /** Returns a C peer that writes the other file. */
    Rounds.Factory writer(String name, String variant, String more) {
        return () -> {
            String order = variant + " hot=" + hot + " written=" + written + " write=1 bytes=" + sizes().diskBytes();
            return new PeerContender(name, peers, order + " " + more, "disk", true);
        };
    }

    /** Returns a C peer with another check, or with none. */
    Rounds.Factory peer(String name, String order, String check) {
        return () ->
                new PeerContender(name, peers, order + " hot=" + hot + " bytes=" + sizes().hotBytes(), check, true);
    }

    @Override
    public void close() {
        peers.close();
    }
}

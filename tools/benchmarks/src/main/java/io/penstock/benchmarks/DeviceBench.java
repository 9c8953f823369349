// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.engine.spi.staging.StagingOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the rows of one device share: the file, the device, and contenders that are alike for all. */
class DeviceBench implements Bench {

    /** The layer that fakes AMD's driver for an SSG, if built; {@code tools/benchmarks/run} builds it. */
    static final String SSG_FAKE = "benchmarks.ssg-fake";

    private static final String LATENCY_MICROS = "1000"; // of a read of the fake

    final Settings settings;
    final Device device;
    final Path hot;
    private final boolean hardware;
    private @Nullable PeerProcess ssg;

    /** Creates the file, and prints what the device is; {@code device} is closed with this. */
    DeviceBench(Settings settings, Device device, Path hot) throws IOException {
        this.settings = settings;
        this.device = device;
        this.hot = TestFile.prepare(hot, settings.sizes().hotBytes());
        try (Backend backend = device.open(Options.none())) {
            System.out.println(backend.capabilities());
            hardware = backend.capabilities().hardware();
        }
    }

    /** Opens the bench of a backend; all rows run on the calling thread. */
    static DeviceBench open(Settings settings) throws IOException, InterruptedException {
        if (settings.backend().equals("cufile")) {
            return GpuBench.of(settings);
        }
        Device device = settings.backend().equals("gl") ? new GlDevice() : new ClDevice();
        return new DeviceBench(settings, device, settings.directory().resolve("hot-" + settings.backend()));
    }

    List<Row> rows() throws IOException {
        return Table.rows(settings.backend(), this);
    }

    final long bytes() {
        return settings.sizes().hotBytes();
    }

    @Override
    public Map<String, String> values() {
        // Longer than a gate stays shut, or a drawing takes.
        String spin = settings.backend().equals("gl") ? "5000" : "2000";
        return Map.of("spin", hardware ? spin : "0");
    }

    @Override
    public boolean holds(String condition) {
        return switch (condition) {
            case "hardware" -> hardware;
            case "processor" -> !hardware;
            default -> throw new IllegalArgumentException(condition);
        };
    }

    @Override
    public Contender open(Order order) throws Exception {
        return switch (order.verb()) {
            case "read" -> new DeviceRead(this, order);
            case "small" -> new SmallReads(this, order);
            case "peer" ->
                new DevicePeer(
                        (Device.Application) device,
                        order.constant(DevicePeer.Way.class, "way", DevicePeer.Way.NAIVE),
                        hot,
                        bytes());
            case "wait" -> new DeviceWait((Device.Application) device, order.has("copy"), smallReads());
            case "ssg" -> {
                PeerProcess process = ssg == null ? ssgProcess() : ssg;
                ssg = process;
                yield new PeerContender(
                        process, order.get("depth") + " " + settings.nanos() + " " + order.get("block"), "");
            }
            default -> throw new IllegalArgumentException(order.text());
        };
    }

    /** Returns the number of small reads in one run. */
    final int smallReads() {
        return Math.min(
                settings.backend().equals("gl") ? 500 : 2000, settings.sizes().blocks());
    }

    /** Returns the options of a backend; without words they are the default ones. */
    final Options options(Order order) {
        Options options = Options.none();
        if (order.has("path") && !order.get("path").equals("auto")) {
            options = options.with("penstock." + settings.backend() + ".path", order.get("path"));
        }
        if (order.mode() == Mode.DIRECT) {
            options = options.with(CommonOptions.DELIVERY, CommonOptions.Delivery.DIRECT);
        }
        if (order.has("spin")) {
            options = options.with(StagingOptions.SPIN_MICROS, order.count("spin"));
        }
        if (order.has("workers")) {
            long staged = order.number("workers") * order.number("buffer") * order.number("each");
            options = options.with(StagingOptions.WORKERS, order.count("workers"))
                    .with(StagingOptions.BUFFER_BYTES, order.number("buffer"))
                    .with(StagingOptions.BUFFERS_PER_WORKER, order.count("each"))
                    .with(
                            CommonOptions.QUEUE_BYTES,
                            Math.max(CommonOptions.QUEUE_BYTES.fallback(), staged + staged / 2));
        }
        return options;
    }

    private PeerProcess ssgProcess() throws IOException {
        String layer = System.getProperty(SSG_FAKE, "");
        if (layer.isEmpty()) {
            throw new IOException("no fake of AMD's driver: it needs cc and the headers of OpenCL");
        }
        return new PeerProcess(
                OtherProcess.java(List.of(), SsgDepth.class, hot.toString(), Long.toString(bytes())),
                Map.of("OPENCL_LAYERS", layer, "SSG_FAKE", "armed=1 delay:clEnqueueReadSsgFileAMD=" + LATENCY_MICROS));
    }

    @Override
    public void close() {
        if (ssg != null) {
            ssg.close();
        }
        device.close();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backends;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The files of the host backend's rows, and their contenders. */
final class HostBench implements Bench {

    private final Settings settings;
    private final Path hot;

    private HostBench(Settings settings) throws IOException {
        this.settings = settings;
        hot = TestFile.prepare(settings.directory().resolve("hot"));
    }

    static List<Row> rows(Settings settings) throws IOException {
        return Table.rows("host", new HostBench(settings));
    }

    @Override
    public Map<String, String> values() {
        return Map.of("dir", settings.directory().toString());
    }

    @Override
    public boolean holds(String condition) {
        return switch (condition) {
            case "nginx" ->
                HttpServer.program("nginx").isPresent()
                        && HttpServer.program("curl").isPresent();
            case "ucx" -> HttpServer.program("ucx_perftest").isPresent();
            case "gpu" ->
                Backends.list().stream()
                        .anyMatch(listing -> listing.name().equals("cufile")
                                && listing.availability().available());
            case "penstock" -> OtherProcess.COMMAND != null;
            case "cold" -> SmallFiles.canDropCaches();
            default -> throw new IllegalArgumentException(condition);
        };
    }

    @Override
    public Row row(String name, Order order) {
        return new SlowSubscriber(new Workload(hot, order.count("block"), 0, false, false), order.mode());
    }

    private Workload work(Order order) throws IOException {
        if (order.has("files")) {
            int count = order.count("files");
            List<Path> many = TestFile.many(settings.directory().resolve("many"), count);
            long bytes = TestFile.MANY_BYTES / count;
            return new Workload(many, bytes, order.count("block"), order.count("depth"), false, false);
        }
        Path file = order.has("write") ? settings.directory().resolve("written") : hot;
        return new Workload(
                Path.of(order.get("file", file.toString())),
                Integer.parseInt(order.get("block", "0")),
                Integer.parseInt(order.get("depth", "0")),
                order.has("direct"),
                order.has("write"));
    }

    @Override
    public Contender open(Order order) throws Exception {
        return switch (order.verb()) {
            case "curl" -> new HttpRead.Curl(hot, order.count("parallel"), order.has("kept"));
            case "jdk" -> new HttpRead.Jdk(hot, order.count("parallel"));
            case "aws" -> new AwsDownload(hot);
            case "http" -> new HttpRead.Penstock(hot, false);
            case "s3" -> new HttpRead.Penstock(hot, true);
            case "perftest" -> new UcxRead.Perftest(order.get("tls"), order.has("alike"));
            case "ucx" ->
                new UcxRead.Penstock(
                        order.get("tls"), order.constant(UcxRead.Memory.class, "memory", UcxRead.Memory.HOST));
            case "small-packs", "small-elastic", "small-loop", "small-copy", "small-copy-loop", "small-load" ->
                SmallFiles.open(settings.directory(), order);
            default -> open(order, work(order));
        };
    }

    private static Contender open(Order order, Workload work) throws Exception {
        return switch (order.verb()) {
            case "fio" -> {
                TestFile.prepare(work.file());
                yield new FioPeer(work);
            }
            case "fio-append" -> FioPeer.appending(work);
            case "submit" -> new PenstockHost.Submit(work, order);
            case "gather" -> new PenstockHost.Gather(work, order);
            case "gather-large" -> new PenstockHost.LargeGather(work, order);
            case "append" -> new PenstockHost.Append(work, order.mode(), order.has("at-once"));
            case "ring" -> new BareRing(work);
            case "channel" -> new JvmPeers.Channel(work);
            case "elastic" -> new JvmPeers.Elastic(work);
            case "caller" -> new JvmPeers.Caller(work);
            case "jasyncfio" -> new JvmPeers.Jasyncfio(work);
            case "vertx" -> new JvmPeers.Vertx4(work);
            case "bench-command" -> OtherProcess.benchCommand(work);
            case "new-process" -> OtherProcess.submitting(work);
            default -> throw new IllegalArgumentException(order.text());
        };
    }
}

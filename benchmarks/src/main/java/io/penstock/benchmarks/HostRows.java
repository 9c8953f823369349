// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backends;
import io.penstock.benchmarks.Comparison.Kind;
import io.penstock.benchmarks.Rounds.Factory;
import io.penstock.benchmarks.UcxRead.Memory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The rows of the host backend and their goals. */
final class HostRows {

    private static final int KIB4 = 4096;
    private static final int MIB = 1 << 20;
    private static final int GATHERED = 32; // by four at a time: as much memory as the others read into
    private static final int DEPTH = 128;

    private final Settings settings;
    private final Path hot;
    private final List<Row> rows = new ArrayList<>();

    private HostRows(Settings settings) throws IOException {
        this.settings = settings;
        hot = TestFile.prepare(settings.directory().resolve("hot"));
    }

    static List<Row> all(Settings settings) throws IOException {
        HostRows host = new HostRows(settings);
        host.small();
        host.large();
        host.alone();
        host.direct("O_DIRECT 4 KiB", KIB4, DEPTH);
        host.direct("O_DIRECT 4 KiB", KIB4, 1);
        host.direct("O_DIRECT 1 MiB", MIB, 8);
        host.append();
        host.ownCost();
        host.watched(KIB4, DEPTH);
        host.watched(MIB, 32);
        host.benchCommand(MIB, 32);
        host.benchCommand(64 << 10, 32);
        host.scale();
        host.http();
        host.s3();
        host.ucx();
        return host.rows;
    }

    private void small() {
        Workload work = new Workload(hot, KIB4, DEPTH, false, false);
        List<Factory> contenders = List.of(
                () -> new FioPeer(work),
                () -> new PenstockSubmit(work, Mode.DEFAULT),
                () -> new PenstockSubmit(work, Mode.DIRECT),
                () -> new PenstockGather(work, Mode.DEFAULT, GATHERED),
                () -> new PenstockGather(work, Mode.DIRECT, GATHERED),
                () -> new ChannelPeer(work),
                () -> new ElasticPeer(work),
                () -> new CallerPeer(work),
                () -> new JasyncfioPeer(work),
                () -> new VertxPeer(work));
        String row = "hot 4 KiB random, 128 in flight";
        List<Comparison> comparisons = new ArrayList<>();
        for (Mode mode : Mode.values()) {
            comparisons.add(speed(row + ": submit / fio", mode, "submit", "fio", 1));
            comparisons.add(speed(row + ": gather / fio", mode, "gather", "fio", 1));
            comparisons.add(
                    speed(row + ": submit / AsynchronousFileChannel", mode, "submit", "AsynchronousFileChannel", 4));
            comparisons.add(
                    speed(row + ": submit / boundedElastic", mode, "submit", "FileChannel on boundedElastic", 4));
            comparisons.add(speed(row + ": submit / jasyncfio", mode, "submit", "jasyncfio", 1.5));
            comparisons.add(speed(row + ": submit / Vert.x", mode, "submit", "Vert.x AsyncFile", 1));
            comparisons.add(speed(
                    row + ": submit / FileChannel, caller's thread, 1 in flight",
                    mode,
                    "submit",
                    "FileChannel on the caller's thread",
                    0.95));
        }
        rows.add(new Rounds(row, contenders, comparisons));
    }

    /** One read at a time: what the hand-overs between threads cost. */
    private void alone() {
        Workload work = new Workload(hot, KIB4, 1, false, false);
        String row = "hot 4 KiB random, 1 in flight";
        rows.add(new Rounds(
                row,
                List.of(
                        () -> new FioPeer(work),
                        () -> new PenstockSubmit(work, Mode.DEFAULT),
                        () -> new PenstockSubmit(work, Mode.DIRECT),
                        () -> new ElasticPeer(work),
                        () -> new CallerPeer(work)),
                submits(row, 0.97, "boundedElastic", "FileChannel on boundedElastic")));
    }

    private void large() {
        Workload work = new Workload(hot, MIB, 32, false, false);
        String row = "hot 1 MiB random, 32 in flight";
        rows.add(new Rounds(
                row,
                List.of(
                        () -> new FioPeer(work),
                        () -> new PenstockSubmit(work, Mode.DEFAULT),
                        () -> new PenstockSubmit(work, Mode.DIRECT),
                        () -> new ChannelPeer(work)),
                submits(row, 1.3, "AsynchronousFileChannel", "AsynchronousFileChannel")));
    }

    private void direct(String name, int blockBytes, int depth) {
        for (boolean write : new boolean[] {false, true}) {
            String row = name + (write ? " write, " : " read, ") + depth + " in flight";
            Path file = write ? settings.directory().resolve("written") : hot;
            Workload work = new Workload(file, blockBytes, depth, true, write);
            List<Comparison> comparisons = new ArrayList<>();
            for (Mode mode : Mode.values()) {
                comparisons.add(speed(row + ": submit / fio", mode, "submit", "fio", 0.97));
            }
            rows.add(new Rounds(
                    row,
                    List.of(
                            () -> {
                                TestFile.prepare(file);
                                return new FioPeer(work);
                            },
                            () -> new PenstockSubmit(work, Mode.DEFAULT),
                            () -> new PenstockSubmit(work, Mode.DIRECT)),
                    comparisons));
        }
    }

    private void append() {
        Workload work = new Workload(settings.directory().resolve("appended"), KIB4, 1, false, true);
        Workload fio = new Workload(settings.directory().resolve("appended-fio"), KIB4, 1, false, true);
        String row = "4 KiB append + fdatasync";
        List<Comparison> comparisons = new ArrayList<>();
        for (Mode mode : Mode.values()) {
            comparisons.add(speed(row + " / fio", mode, "append and sync", "fio", 0.95));
            comparisons.add(
                    speed(row + ", one awaited before the other / fio", mode, "append, then sync", "fio", 0.95));
        }
        rows.add(new Rounds(
                row,
                List.of(
                        () -> FioPeer.appending(fio),
                        () -> new PenstockAppend(work, Mode.DEFAULT, true),
                        () -> new PenstockAppend(work, Mode.DIRECT, true),
                        () -> new PenstockAppend(work, Mode.DEFAULT, false),
                        () -> new PenstockAppend(work, Mode.DIRECT, false)),
                comparisons));
    }

    private void ownCost() {
        Workload work = new Workload(hot, KIB4, DEPTH, false, false);
        List<Comparison> comparisons = new ArrayList<>();
        for (Mode mode : Mode.values()) {
            comparisons.add(extra("own cost over the bare ring: submit", mode, "submit", 250));
            comparisons.add(extra("own cost over the bare ring: gather", mode, "gather", 30));
        }
        rows.add(new Rounds(
                "own cost over the bare ring",
                List.of(
                        () -> new BareRing(work),
                        () -> new PenstockSubmit(work, Mode.DEFAULT),
                        () -> new PenstockSubmit(work, Mode.DIRECT),
                        () -> new PenstockGather(work, Mode.DEFAULT, GATHERED),
                        () -> new PenstockGather(work, Mode.DIRECT, GATHERED)),
                comparisons));
        rows.add(new CostRow(hot));
    }

    /** Whether {@code penstock bench} measures what the rows here do; where that command is. */
    private void benchCommand(int blockBytes, int depth) {
        Workload work = new Workload(hot, blockBytes, depth, false, false);
        String row = "penstock bench, " + (blockBytes >> 10) + " KiB";
        if (BenchCommandPeer.COMMAND != null) {
            rows.add(new OnlyByName(new Rounds(
                    row,
                    List.of(() -> new BenchCommandPeer(work), () -> new NewProcess(work)),
                    List.of(new Comparison(
                            row + " / submit, in a new process",
                            "default",
                            "penstock bench",
                            "submit, in a new process",
                            Kind.SPEED,
                            0.98)))));
        }
    }

    /** What meters, events and Observations add to a transfer. */
    private void watched(int blockBytes, int depth) {
        Workload work = new Workload(hot, blockBytes, depth, false, false);
        String row = "watched " + (blockBytes == MIB ? "1 MiB" : "4 KiB");
        List<Factory> contenders = new ArrayList<>();
        List<Comparison> comparisons = new ArrayList<>();
        for (Mode mode : Mode.values()) {
            for (Watching watching : Watching.values()) {
                contenders.add(() -> new PenstockSubmit(work, mode, watching));
            }
            comparisons.addAll(watched(row, mode, Watching.METERS, Watching.NOTHING, 500));
            comparisons.addAll(watched(row, mode, Watching.SLOW_EVENTS, Watching.NOTHING, 500));
            comparisons.addAll(watched(row, mode, Watching.EVENTS, Watching.NOTHING, 500));
            comparisons.addAll(watched(row, mode, Watching.OBSERVATIONS, Watching.EACH, 2500));
        }
        rows.add(new OnlyByName(new Rounds(row, contenders, comparisons)));
    }

    private static List<Comparison> watched(String row, Mode mode, Watching ours, Watching peer, double goalNanos) {
        String label = row + ": submit" + ours;
        String name = "submit, " + mode + ours;
        String peerName = "submit, " + mode + peer;
        String of = mode.toString();
        return List.of(
                new Comparison(label + ", added processor time", of, name, peerName, Kind.EXTRA_COST, goalNanos),
                new Comparison(label + ", processor time / not watched", of, name, peerName, Kind.COST, 1.1),
                new Comparison(label + " / not watched", of, name, peerName, Kind.SPEED, 0.9));
    }

    private void scale() {
        Workload work = new Workload(hot, KIB4, DEPTH, false, false);
        Path many = settings.directory().resolve("many");
        for (Mode mode : Mode.values()) {
            rows.add(new SlowSubscriber(work, mode));
            rows.add(new Rounds(
                    "10^2 to 10^6 regions",
                    List.of(
                            () -> new ManyRegions(work, mode, 100),
                            () -> new ManyRegions(work, mode, 10_000),
                            () -> new ManyRegions(work, mode, 1_000_000)),
                    List.of(
                            cost("10^4 regions / 10^2", mode, "10000 regions each", "100 regions each"),
                            cost("10^6 regions / 10^2", mode, "1000000 regions each", "100 regions each"))));
            rows.add(new Rounds(
                    "1 to 10^4 files",
                    List.of(
                            () -> new ManyFiles(many, mode, 1, DEPTH),
                            () -> new ManyFiles(many, mode, 100, DEPTH),
                            () -> new ManyFiles(many, mode, 10_000, DEPTH),
                            () -> new BareRingFiles(many, 1, DEPTH),
                            () -> new BareRingFiles(many, 100, DEPTH),
                            () -> new BareRingFiles(many, 10_000, DEPTH)),
                    List.of(
                            cost("10^2 files / 1", mode, "100 files", "1 files"),
                            cost("10^4 files / 1", mode, "10000 files", "1 files"),
                            cost("the bare ring itself: 10^4 files / 1", mode, ring(10_000), ring(1)),
                            ownPart("1 file: own part over the bare ring", mode, "1 files", ring(1)),
                            ownPart("10^2 files: own part over the bare ring", mode, "100 files", ring(100)),
                            ownPart("10^4 files: own part over the bare ring", mode, "10000 files", ring(10_000)))));
        }
    }

    /** One file of a server on this machine; where nginx and curl are. */
    private void http() {
        String row = "HTTP: 1 GiB by ranges from nginx on loopback";
        List<Factory> contenders = List.of(
                () -> new HttpRead.Curl(hot, 4, false),
                () -> new HttpRead.Curl(hot, 16, false),
                () -> new HttpRead.Curl(hot, 16, true),
                () -> new HttpRead.Jdk(hot, 4),
                () -> new HttpRead.Jdk(hot, 16),
                () -> new HttpRead.Penstock(hot, false));
        List<Comparison> comparisons = comparisons(
                "HTTP",
                "curl, 4 ranges",
                "curl, 16 ranges",
                "curl, 16 ranges, kept",
                "JDK HttpClient, 4 ranges",
                "JDK HttpClient, 16 ranges");
        if (HttpServer.program("nginx").isPresent()
                && HttpServer.program("curl").isPresent()) {
            rows.add(new OnlyByName(new Rounds(row, contenders, comparisons)));
        }
    }

    private static List<Comparison> comparisons(String row, String... peers) {
        List<Comparison> comparisons = new ArrayList<>();
        for (String peer : peers) {
            comparisons.add(
                    new Comparison(row + ": one transfer / " + peer, "default", "one transfer", peer, Kind.SPEED, 1));
            comparisons.add(
                    new Comparison(row + ": processor time / " + peer, "default", "one transfer", peer, Kind.COST, 1));
        }
        return comparisons;
    }

    /** One object of a server on this machine that answers as a public bucket; where nginx and curl are. */
    private void s3() {
        List<Factory> contenders = List.of(
                () -> new HttpRead.Curl(hot, 16, false),
                () -> new HttpRead.Curl(hot, 16, true),
                () -> new AwsDownload(hot),
                () -> new HttpRead.Penstock(hot, true));
        List<Comparison> comparisons =
                comparisons("S3", "curl, 16 ranges", "curl, 16 ranges, kept", "AWS transfer manager");
        if (HttpServer.program("nginx").isPresent()
                && HttpServer.program("curl").isPresent()) {
            rows.add(new OnlyByName(new Rounds("S3: 1 GiB from nginx on loopback", contenders, comparisons)));
        }
    }

    /** Memory of another process; where UCX's own benchmark is. */
    private void ucx() {
        if (HttpServer.program("ucx_perftest").isEmpty()) {
            return;
        }
        for (String transports : List.of("tcp", "posix,sysv")) {
            String row = "UCX: 4 MiB ranges of a buffer over " + transports;
            List<Factory> contenders = List.of(
                    () -> new UcxRead.Perftest(transports, false),
                    () -> new UcxRead.Perftest(transports, true),
                    () -> new UcxRead.Penstock(transports, Memory.HOST));
            List<Comparison> comparisons = List.of(
                    ofPerftest(row, "ucx_perftest -s " + UcxRead.RANGE),
                    ofPerftest(row, "ucx_perftest -e -s " + UcxRead.BYTES));
            rows.add(new OnlyByName(new Rounds(row, contenders, comparisons)));
            boolean hasGpu = Backends.list().stream()
                    .anyMatch(listing -> listing.name().equals("cufile")
                            && listing.availability().available());
            if (hasGpu) {
                rows.add(new OnlyByName(ofGpu(transports)));
            }
        }
    }

    /** The memory of a GPU, of which UCX's own access is worth an option only where an adapter reaches it. */
    private static Rounds ofGpu(String transports) {
        String row = "UCX: 4 MiB ranges of a GPU's memory over " + transports;
        List<Factory> contenders = List.of(
                () -> new UcxRead.Penstock(transports + ",cuda_copy", Memory.GPU),
                () -> new UcxRead.Penstock(transports + ",cuda_copy", Memory.GPU_BY_UCX));
        return new Rounds(
                row,
                contenders,
                List.of(new Comparison(
                        row + ": staged / by UCX itself",
                        "default",
                        Memory.GPU.contender,
                        Memory.GPU_BY_UCX.contender,
                        Kind.SPEED,
                        1)));
    }

    private static Comparison ofPerftest(String row, String peer) {
        return new Comparison(row + ": transfers / " + peer, "default", "transfers", peer, Kind.SPEED, 0.9);
    }

    /** Compares submit in each mode with fio, and with another peer, which it must equal. */
    private static List<Comparison> submits(String row, double ofFio, String label, String peer) {
        List<Comparison> comparisons = new ArrayList<>();
        for (Mode mode : Mode.values()) {
            comparisons.add(speed(row + ": submit / fio", mode, "submit", "fio", ofFio));
            comparisons.add(speed(row + ": submit / " + label, mode, "submit", peer, 1));
        }
        return comparisons;
    }

    private static Comparison speed(String row, Mode mode, String ours, String peer, double goal) {
        return new Comparison(row, mode.toString(), ours + ", " + mode, peer, Kind.SPEED, goal);
    }

    private static Comparison extra(String row, Mode mode, String ours, double goal) {
        return new Comparison(row, mode.toString(), ours + ", " + mode, "bare ring", Kind.EXTRA, goal);
    }

    private static String ring(int files) {
        return "bare ring, " + files + " files";
    }

    private static Comparison ownPart(String row, Mode mode, String ours, String peer) {
        return new Comparison(row, mode.toString(), ours, peer, Kind.EXTRA_COST, 250);
    }

    private static Comparison cost(String row, Mode mode, String ours, String peer) {
        return new Comparison(row, mode.toString(), ours, peer, Kind.COST, 1.1);
    }
}

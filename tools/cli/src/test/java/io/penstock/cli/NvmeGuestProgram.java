// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.BufferRegion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.nvme.DmaRange;
import io.penstock.backend.nvme.NvmeOptions;
import io.penstock.backend.nvme.QueuePairHandle;
import io.penstock.cli.testing.CommandLineRun;
import io.penstock.engine.Engine;
import io.penstock.engine.kit.ffi.CpuSet;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import reactor.core.publisher.Flux;

/**
 * Runs in a guest, where a controller is bound to vfio-pci; prints a line for each thing that works. The argument is a
 * file that is in the ext4 on the controller's disk too.
 */
final class NvmeGuestProgram {

    private static final String ADDRESS = System.getenv(NvmeOptions.DEVICE.variable());
    private static final int MIB = 1 << 20;
    private static final int WRITE = 1; // opcodes
    private static final int READ = 2;
    private static final int NODE_BYTES = 32 << 20;

    private NvmeGuestProgram() {}

    public static void main(String[] args) throws Exception {
        System.out.println("kernel " + System.getProperty("os.version"));
        nodes();
        extents(Path.of(args[0]));
        System.out.println(Backends.list().stream()
                .filter(listing -> listing.name().equals("nvme"))
                .map(listing -> listing.availability().reason())
                .findFirst()
                .orElseThrow());
        try (Backend backend = Backends.open("nvme")) {
            refusesToWrite(backend);
        }
        try (Backend backend = Backends.open("nvme", Options.none().with(NvmeOptions.WRITE, true));
                StorageFile file = backend.openFile(Path.of(ADDRESS, "1"), FileOption.READ, FileOption.WRITE)
                        .block()) {
            System.out.println(backend.capabilities().device() + ", " + file.size() + " bytes");
            sizes(backend, file);
            edges(backend, file);
            wrapped(backend, file);
            many(backend, file);
            submitted(backend);
            exported();
            betweenControllers(backend, file);
            file.sync().block();
            System.out.println("synced");
        }
    }

    /** The guest has two NUMA nodes, and a device on each. */
    private static void nodes() throws IOException {
        List<String> devices = List.of("0000:41:00.0", "0000:81:00.0");
        for (int node = 0; node < devices.size(); node++) {
            CpuSet near = CpuSet.near(devices.get(node));
            check(near + " of node " + node, near.processors().equals(List.of(node)));
            ByteBuffer memory = near.call(() -> ByteBuffer.allocateDirect(NODE_BYTES)); // filled with zeros
            long pages = pages(NativeMemory.address(memory), node);
            check(memory + " on node " + node + ": " + pages, pages >= NODE_BYTES / 4096 * 9 / 10);
        }
        System.out.println("memory near each device lies on its node");
    }

    /** Returns how many pages of the mapping around an address are on a node. */
    private static long pages(long address, int node) throws IOException {
        String mapping = "";
        for (String line : Files.readAllLines(Path.of("/proc/self/numa_maps"))) { // in the order of their addresses
            if (Long.parseUnsignedLong(line.substring(0, line.indexOf(' ')), 16) > address) {
                break;
            }
            mapping = line;
        }
        Matcher found = Pattern.compile(" N" + node + "=(\\d+)").matcher(mapping);
        return found.find() ? Long.parseLong(found.group(1)) : 0;
    }

    /** The kernel has the disk, and then this backend, which copies a file by its extents. */
    private static void extents(Path original) throws Exception {
        String map = "/tmp/file.extents";
        bind("nvme");
        Path disk = Path.of("/dev/nvme0n1");
        while (!Files.exists(disk)) {
            Thread.sleep(10); // until the kernel's driver has found its namespace
        }
        Path folder = Files.createDirectory(Path.of("/tmp/disk"));
        run("mount", "-t", "ext4", "-o", "ro", disk.toString(), folder.toString());
        penstock("extents", folder.resolve(original.getFileName()).toString(), map);
        run("umount", folder.toString());
        bind("vfio-pci");
        penstock("copy", "--backend", "nvme", map, "/tmp/copy");
        check("copy by extents", Files.mismatch(original, Path.of("/tmp/copy")) < 0);
        penstock("copy", "--backend", "nvme", ADDRESS + "/1/2+2", "/tmp/superblock");
        check(
                "copy of blocks",
                ByteBuffer.wrap(Files.readAllBytes(Path.of("/tmp/superblock"))).getShort(0x38) == 0x53ef);
        System.out.println("copied by penstock");
    }

    private static void bind(String driver) throws IOException {
        Path device = Path.of("/sys/bus/pci/devices", ADDRESS);
        Files.writeString(device.resolve("driver_override"), driver);
        Files.writeString(device.resolve("driver/unbind"), ADDRESS);
        Files.writeString(Path.of("/sys/bus/pci/drivers_probe"), ADDRESS);
    }

    private static void run(String... command) throws Exception {
        check(
                String.join(" ", command),
                new ProcessBuilder(command).inheritIO().start().waitFor() == 0);
    }

    private static void penstock(String... arguments) {
        CommandLineRun run = CommandLineRun.of((Object[]) arguments);
        System.out.print(run.out() + run.err());
        check("penstock " + String.join(" ", arguments), run.code() == 0);
    }

    private static void refusesToWrite(Backend backend) {
        try {
            backend.openFile(Path.of(ADDRESS, "1"), FileOption.WRITE).block();
            throw new AssertionError("opened for writing");
        } catch (RuntimeException e) {
            check(String.valueOf(e), e.getCause() instanceof AccessDeniedException || contains(e, "read-only"));
            System.out.println("read-only unless asked");
        }
    }

    private static boolean contains(Throwable thrown, String word) {
        return thrown != null
                && (String.valueOf(thrown.getMessage()).contains(word) || contains(thrown.getCause(), word));
    }

    private static void sizes(Backend backend, StorageFile file) {
        try (DeviceBuffer out = backend.allocate(MIB).block();
                DeviceBuffer back = backend.allocate(MIB + 4096).block()) {
            for (int size = 512; size <= MIB; size *= 4) {
                ByteBuffer content = content(size, size);
                out.upload(0, content).block();
                BufferRegion target = back.region(size % 4096, size); // also within pages
                backend.submit(Transfer.write(out.region(0, size), file.region(MIB, size)))
                        .block();
                backend.submit(Transfer.read(file.region(MIB, size), target)).block();
                ByteBuffer found = ByteBuffer.allocateDirect(size);
                back.download(size % 4096, found).block();
                check("size " + size, found.flip().limit(size).mismatch(content(size, size)) < 0);
            }
        }
        System.out.println("sizes from 512 bytes to 512 KiB");
    }

    private static void edges(Backend backend, StorageFile file) {
        try (DeviceBuffer buffer = backend.allocate(8192).block()) {
            buffer.upload(0, content(8192, 1)).block();
            backend.submit(Transfer.write(buffer.all(), file.region(0, 8192))).block();
            buffer.upload(0, content(1000, 2)).block();
            backend.submit(Transfer.write(buffer.region(0, 1000), file.region(777, 1000)))
                    .block();
            backend.submit(Transfer.read(file.region(0, 8192), buffer.all())).block();
            ByteBuffer found = ByteBuffer.allocateDirect(8192);
            buffer.download(0, found).block();
            ByteBuffer expected = content(8192, 1);
            for (int i = 0; i < 1000; i++) {
                expected.put(777 + i, content(1000, 2).get(i));
            }
            check("edges", found.flip().limit(8192).mismatch(expected) < 0);
        }
        System.out.println("unaligned edges");
    }

    private static void wrapped(Backend backend, StorageFile file) {
        ByteBuffer memory = ByteBuffer.allocateDirect(64 << 10); // at any address
        try (DeviceBuffer buffer = backend.wrap(memory)) {
            backend.submit(Transfer.read(file.region(0, 777), buffer.region(13, 777)))
                    .block();
            ByteBuffer expected = content(777, 1);
            check("wrapped", memory.slice(13, 777).mismatch(expected) < 0);
        }
        System.out.println("memory of the application");
    }

    private static void many(Backend backend, StorageFile file) {
        int count = 300;
        try (DeviceBuffer buffer = backend.allocate(32 * 4096).block()) {
            long start = System.nanoTime();
            List<Long> moved = Flux.range(0, count)
                    .flatMap(
                            i -> backend.submit(Transfer.read(
                                    file.region(i % 1000 * 4096L, 4096), buffer.region(i % 32 * 4096L, 4096))),
                            32)
                    .map(completion -> completion.bytes())
                    .collectList()
                    .block();
            check("many", moved.size() == count && moved.stream().allMatch(bytes -> bytes == 4096));
            System.out.println(count + " reads of 4 KiB, 32 in flight: "
                    + count * 1_000_000_000L / (System.nanoTime() - start) + " a second");
        }
    }

    /** What {@link #edges} has left, by commands that are submitted here. */
    private static void submitted(Backend backend) {
        int depth = 7;
        Options options = Options.none().with(NvmeOptions.WRITE, true);
        QueuePairHandle pair = QueuePairHandle.open(options, depth).block();
        try (DeviceBuffer buffer = backend.allocate(depth * 512L).block()) {
            DmaRange data = pair.map(buffer);
            ByteBuffer entries = words(pair.submissionQueue());
            for (int i = 0; i < depth; i++) {
                int at = i * QueuePairHandle.SUBMISSION_ENTRY_BYTES;
                entries.putInt(at, 2 | 100 + i << 16).putInt(at + 4, 1); // Read of namespace 1
                entries.putLong(at + 24, data.busAddress() + i * 512L);
                entries.putLong(at + 40, i).putInt(at + 48, 0);
            }
            VarHandle.releaseFence();
            words(pair.doorbell()).putInt(0, depth);
            List<Integer> ids = pair.completions()
                    .take(depth)
                    .map(completion -> completion.isSuccess() ? completion.commandId() : -1)
                    .collectSortedList()
                    .block();
            check("submitted " + ids, ids.equals(List.of(100, 101, 102, 103, 104, 105, 106)));
            ByteBuffer found = ByteBuffer.allocateDirect(512);
            buffer.download(0, found).block();
            check("submitted", found.flip().limit(512).mismatch(content(512, 1)) < 0);
            pair.close();
            pair.released().block();
        }
        System.out.println("commands of another submitter");
    }

    /**
     * What {@link #edges} has left, by a command into memory that the processor does not reach: memory of a device that
     * exports it. A file in memory is in its place, which iommufd maps by the same request, and a dma-buf that no
     * kernel maps yet.
     */
    private static void exported() throws Exception {
        Options options = Options.none().with(NvmeOptions.WRITE, true);
        QueuePairHandle pair = QueuePairHandle.open(options, 2).block();
        boolean byIommufd = Files.exists(Path.of("/dev/iommu")) && Files.isDirectory(Path.of("/dev/vfio/devices"));
        try (FileMemory memory = new FileMemory(3 * 4096);
                Backend device = Engine.open("exporter", memory, List.of(), Options.none());
                DeviceBuffer buffer = device.allocate(512).block()) {
            if (byIommufd) {
                DmaRange data = pair.map(buffer);
                ByteBuffer entry = words(pair.submissionQueue());
                entry.putInt(0, 2 | 7 << 16).putInt(4, 1).putLong(24, data.busAddress());
                entry.putLong(40, 0).putInt(48, 0);
                VarHandle.releaseFence();
                words(pair.doorbell()).putInt(0, 1);
                check("exported", pair.completions().blockFirst().isSuccess());
                check("exported", memory.read(512).mismatch(content(512, 1)) < 0);
                System.out.println("a file in the address space: commands have read into it");
                memory.becomeDmaBuf();
            }
            try (DeviceBuffer refused = device.allocate(4096).block()) {
                pair.map(refused);
                throw new AssertionError("mapped");
            } catch (PermanentStorageException e) {
                System.out.println(
                        (byIommufd ? "a dma-buf that the kernel does not map: " : "a dma-buf without iommufd: ")
                                + e.getMessage());
            }
            pair.close();
            pair.released().block();
        }
    }

    /**
     * What {@link #edges} has left, by a command into another controller's memory; then that controller's registers, by
     * a command that writes them to the disk. The processor is not between: each is in the address space of this
     * controller, by a dma-buf of VFIO.
     */
    private static void betweenControllers(Backend backend, StorageFile file) throws Exception {
        if (!Files.isDirectory(Path.of("/dev/vfio/devices"))) {
            System.out.println("a BAR as a dma-buf: not without iommufd");
            return;
        }
        try (SecondController second = SecondController.open()) {
            int memory = SecondController.MEMORY;
            command(READ, second.dmaBuf(memory, SecondController.MEMORY_BYTES), 0);
            check("between controllers", second.read(memory, 512).mismatch(content(512, 1)) < 0);
            System.out.println("a BAR as a dma-buf: a command has read into another controller's memory");
            int registers = SecondController.REGISTERS;
            command(WRITE, second.dmaBuf(registers, SecondController.REGISTERS_BYTES), 9);
            try (DeviceBuffer buffer = backend.allocate(512).block()) {
                backend.submit(Transfer.read(file.region(9 * 512, 512), buffer.all()))
                        .block();
                ByteBuffer found = ByteBuffer.allocateDirect(512);
                buffer.download(0, found).block();
                ByteBuffer expected = second.read(registers, 12); // capabilities and version
                check("registers " + found.getLong(0), expected.getInt(8) != 0);
                check("registers " + found.getLong(0), found.clear().limit(12).equals(expected));
            }
            System.out.println("BAR0 as a dma-buf: a command has written another controller's registers to the disk");
        } catch (ErrnoException e) {
            System.out.println("a BAR as a dma-buf: " + e.getMessage());
        }
    }

    /** Submits a command for a block, to or from the start of a dma-buf, which is closed after it. */
    private static void command(int opcode, int dmaBuf, int block) {
        QueuePairHandle pair = QueuePairHandle.open(Options.none().with(NvmeOptions.WRITE, true), 2)
                .block();
        try (FileMemory memory = new FileMemory(dmaBuf, 4096);
                Backend device = Engine.open("exporter", memory, List.of(), Options.none());
                DeviceBuffer buffer = device.allocate(512).block()) {
            DmaRange data = pair.map(buffer);
            ByteBuffer entry = words(pair.submissionQueue());
            entry.putInt(0, opcode | 7 << 16).putInt(4, 1).putLong(24, data.busAddress());
            entry.putLong(40, block).putInt(48, 0);
            VarHandle.releaseFence();
            words(pair.doorbell()).putInt(0, 1);
            check("command " + opcode, pair.completions().blockFirst().isSuccess());
            pair.close();
            pair.released().block();
        }
    }

    private static ByteBuffer words(DmaRange range) {
        return NativeMemory.view(range.address(), range.bytes()).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static ByteBuffer content(int bytes, int seed) {
        ByteBuffer content = ByteBuffer.allocateDirect(bytes);
        for (int i = 0; i < bytes; i++) {
            content.put(i, (byte) (i * 31 + (i >> 12) * 7 + seed));
        }
        return content;
    }

    private static void check(String what, boolean holds) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}

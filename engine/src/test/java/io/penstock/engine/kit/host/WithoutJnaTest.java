// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.kit.memory.HostMemory;
import io.penstock.engine.kit.memory.Slab;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.testing.Requests;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Host I/O in a JVM where JNA finds no library of its own: {@code main} is that JVM's. */
class WithoutJnaTest {

    @TempDir
    Path directory;

    @Test
    void filesAreReadAndWrittenThroughChannels() throws IOException, InterruptedException {
        Path file = Files.writeString(directory.resolve("file"), "penstock");
        Process child = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Djna.nosys=true",
                        "-Djna.nounpack=true",
                        "-Djna.boot.library.path=" + directory,
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        WithoutJnaTest.class.getName(),
                        file.toString()))
                .redirectErrorStream(true)
                .start();
        String said = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(child.waitFor()).as(said).isZero();
        assertThat(said).contains(Machine.IS_LINUX ? "NO_NATIVE_ACCESS" : "NOT_LINUX");
        assertThat(file).hasContent("penstockpenstock");
    }

    public static void main(String[] args) throws IOException {
        if (NativeMemory.isAvailable()) {
            throw new IllegalStateException("JNA was loaded all the same");
        }
        Slabs slabs = new Slabs(true);
        HostPath ioPath = HostPath.open(Options.none(), slabs);
        System.out.println(ioPath.reason());
        HostFile file = (HostFile) ioPath.open(Path.of(args[0]), Set.of(FileOption.READ, FileOption.WRITE));
        NativeQueue queue = ioPath.openQueue();
        Slab memory = slabs.allocate(100_000);
        HostMemory staging = HostMemory.wrap(ByteBuffer.allocateDirect(100));
        Requests requests = new Requests();
        run(
                queue,
                requests,
                requests.next(0).file(Request.Kind.READ, file, 0, 8).memory(memory, 90_000));
        run(
                queue,
                requests,
                requests.next(0).copy(Request.Kind.COPY_OUT, staging, 5, 8).memory(memory, 90_000));
        run(
                queue,
                requests,
                requests.next(0).file(Request.Kind.WRITE, file, 8, 8).memory(staging, 5));
        run(queue, requests, requests.next(0).sync(file));
        if (Machine.IS_LINUX) { // Wine has no direct I/O
            readDirectly(ioPath, queue, requests, memory, Path.of(args[0]));
        }
        queue.close();
        file.close();
        memory.free();
    }

    private static void readDirectly(HostPath ioPath, NativeQueue queue, Requests requests, Slab memory, Path beside)
            throws IOException {
        Path aligned = Files.write(beside.resolveSibling("aligned"), new byte[8192]);
        HostFile direct = (HostFile) ioPath.open(aligned, Set.of(FileOption.READ, FileOption.DIRECT));
        run(
                queue,
                requests,
                requests.next(0).file(Request.Kind.READ, direct, 4096, 4096).memory(memory, 8192));
        direct.close();
    }

    private static void run(NativeQueue queue, Requests requests, Request request) {
        queue.enqueue(request);
        while (requests.ended() == 0) {
            queue.turn(-1);
        }
        if (requests.result(0) != request.bytes()) {
            throw new IllegalStateException(request.kind() + " answered " + requests.result(0));
        }
    }
}

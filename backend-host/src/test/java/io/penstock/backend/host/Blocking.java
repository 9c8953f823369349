// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import io.penstock.Backends;
import io.penstock.engine.kit.ffi.LibC;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.LinkedHashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.blockhound.BlockHound;
import reactor.core.scheduler.Schedulers;

/** What BlockHound has seen: calls of methods that may block, on threads that must not. */
final class Blocking {

    /** Of {@link LibC}; {@code lseek}, {@code statx} and the like answer from memory. */
    private static final Set<String> NATIVES = Set.of(
            "open",
            "read",
            "write",
            "pread",
            "pwrite",
            "ftruncate",
            "fallocate",
            "fsync",
            "fdatasync",
            "poll",
            "syscall",
            "mmap",
            "munmap",
            "close");

    /** Of the JDK's file channels, where there is no io_uring. */
    private static final Set<String> DISPATCHER_NATIVES =
            Set.of("read0", "pread0", "readv0", "write0", "pwrite0", "writev0", "force0", "truncate0", "allocate0");

    private static final Queue<String> SEEN = new ConcurrentLinkedQueue<>();

    private Blocking() {}

    /** Returns what was seen since the last call, each place once. */
    static Set<String> seen() {
        Set<String> all = new LinkedHashSet<>();
        for (String next = SEEN.poll(); next != null; next = SEEN.poll()) {
            all.add(next);
        }
        return all;
    }

    /** Returns which methods of Penstock led here, innermost first. */
    private static String path() {
        return StackWalker.getInstance()
                .walk(frames -> frames.filter(frame -> frame.getClassName().startsWith("io.penstock.")
                                && !frame.getClassName().equals(Blocking.class.getName()))
                        .map(frame -> frame.getClassName()
                                        .substring(frame.getClassName().lastIndexOf('.') + 1) + "."
                                + frame.getMethodName())
                        .collect(Collectors.joining(" < ")));
    }

    /** Installs BlockHound; returns why that cannot be done, or null. */
    static @Nullable String watch() {
        // JNA binds natives by their names, which BlockHound changes: bind them first.
        Backends.open("host").close();
        endParallelThreads();
        try {
            BlockHound.Builder builder =
                    BlockHound.builder().loadIntegrations(); // Reactor's: which threads must not block
            mark(builder, LibC.class, NATIVES);
            mark(builder, dispatcher(), DISPATCHER_NATIVES);
            allow(builder);
            builder.blockingMethodCallback(
                    method -> SEEN.add(method + " on " + Thread.currentThread().getName() + " in " + path()));
            builder.install();
            return null;
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            return "BlockHound cannot be installed in this JVM: " + e;
        }
    }

    /** One that waits for the limit of that close would do so in code that BlockHound does not change any more. */
    private static void endParallelThreads() {
        Schedulers.shutdownNow();
        while (Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().startsWith("parallel-"))) {
            Thread.onSpinWait();
        }
    }

    private static void mark(BlockHound.Builder builder, Class<?> type, Set<String> names) {
        for (Method method : type.getDeclaredMethods()) {
            if (Modifier.isNative(method.getModifiers()) && names.contains(method.getName())) {
                String descriptor = MethodType.methodType(method.getReturnType(), method.getParameterTypes())
                        .toMethodDescriptorString();
                builder.markAsBlocking(type, method.getName(), descriptor);
            }
        }
    }

    private static Class<?> dispatcher() throws ClassNotFoundException {
        try {
            return Class.forName("sun.nio.ch.UnixFileDispatcherImpl"); // since JDK 21
        } catch (ClassNotFoundException older) {
            return Class.forName("sun.nio.ch.FileDispatcherImpl");
        }
    }

    private static void allow(BlockHound.Builder builder) {
        String kernel = "io.penstock.engine.host.kernel.LinuxKernel";
        String channels = "io.penstock.engine.host.queue.ChannelQueue";
        // An I/O queue waits here for its own commands and nothing else: that is its job.
        builder.allowBlockingCallsInside(kernel, "ioUringEnter");
        builder.allowBlockingCallsInside("io.penstock.engine.spi.Wakeup", "await");
        // Reserves addresses (MAP_POPULATE is for rings only); pages come with their first use.
        builder.allowBlockingCallsInside("io.penstock.engine.kit.memory.Mapping", "mapPages");
        // Answers from the inode in memory; it is the price of an exact size() on a network file system.
        builder.allowBlockingCallsInside("io.penstock.engine.host.file.FileStatus", "of");
        // Tables of files and memory: the kernel waits for no I/O here.
        builder.allowBlockingCallsInside(kernel, "ioUringRegister");
        // The last act of an I/O queue: nothing is in flight, and nothing waits behind it.
        builder.allowBlockingCallsInside("io.penstock.engine.queue.IoQueue", "close");
        // The lock of the queue to the pool's threads, which hold it for a few instructions.
        builder.allowBlockingCallsInside(channels, "enqueue");
        builder.allowBlockingCallsInside(channels, "cancel");
        // Sets a number of the thread's own.
        builder.allowBlockingCallsInside("io.penstock.engine.kit.ffi.TimerSlack", "minimize");
        // Adds 1 to an eventfd, which blocks only at 2^64 - 2.
        builder.allowBlockingCallsInside(kernel, "eventfdSignal");
    }
}

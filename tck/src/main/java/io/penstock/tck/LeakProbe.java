// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** Counts what a test may leak: descriptors, threads, and the backend's own live counts. */
public final class LeakProbe {

    /**
     * The count of the threads whose names start with {@code penstock}, without threads of the process that end once
     * idle.
     */
    public static final String THREADS = "threads named penstock*";

    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    // The folder alone does not prove Linux: Wine shows it to a Windows program.
    private static final boolean HAS_DESCRIPTORS =
            System.getProperty("os.name", "").startsWith("Linux") && Files.isDirectory(DESCRIPTORS);
    private static final long POLL_NANOS = 2_000_000;
    private static final int MARGIN = 16;

    private final TckSubject subject;

    /** Creates a probe. */
    public LeakProbe(TckSubject subject) {
        this.subject = subject;
    }

    /** Returns the current counts by name. */
    public Map<String, Long> count() {
        Map<String, Long> counts = new TreeMap<>(subject.live());
        long threads = threads().count();
        if (threads > 0) {
            counts.put(THREADS, threads);
        }
        if (HAS_DESCRIPTORS) {
            countDescriptors(counts);
        }
        return counts;
    }

    private void countDescriptors(Map<String, Long> counts) {
        String folder = subject.folder().toAbsolutePath().toString();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(DESCRIPTORS)) {
            for (Path descriptor : descriptors) {
                String target = target(descriptor);
                if (target.startsWith(folder)) {
                    counts.merge("descriptors of " + target, 1L, Long::sum);
                } else if (target.startsWith("anon_inode:") || target.startsWith("/dev/")) {
                    counts.merge("descriptors of " + target, 1L, Long::sum);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            throw new IllegalStateException("cannot list " + DESCRIPTORS, e);
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (NoSuchFileException e) {
            return ""; // closed since it was listed
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Waits until no count exceeds its previous value, since native completions are asynchronous.
     *
     * @throws AssertionError if that takes longer than {@code limit}; the message names the excess counts
     */
    public void awaitNoMoreThan(Map<String, Long> before, Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        Map<String, Long> more = excess(before);
        while (!more.isEmpty() && deadline - System.nanoTime() > 0) {
            LockSupport.parkNanos(POLL_NANOS);
            more = excess(before);
        }
        if (!more.isEmpty()) {
            throw new AssertionError(
                    "left behind (more than before the test, after " + limit.toSeconds() + " s): " + more + "; before: "
                            + before + "; threads: " + threads().sorted().toList());
        }
    }

    private Map<String, Long> excess(Map<String, Long> before) {
        Map<String, Long> more = count();
        more.replaceAll((what, count) -> count - before.getOrDefault(what, 0L));
        more.values().removeIf(count -> count <= 0);
        return more;
    }

    /** The names; not by Thread.getAllStackTraces(), which stops the JVM at each call. */
    private static Stream<String> threads() {
        ThreadGroup all = Thread.currentThread().getThreadGroup();
        while (all.getParent() != null) {
            all = all.getParent();
        }
        Thread[] alive = new Thread[all.activeCount() + MARGIN];
        int count = all.enumerate(alive);
        while (count == alive.length) { // more were started meanwhile, and are missing
            alive = new Thread[2 * alive.length];
            count = all.enumerate(alive);
        }
        return Arrays.stream(alive, 0, count)
                .map(Thread::getName)
                .filter(name -> name.startsWith("penstock") && !name.startsWith("penstock-file-"));
    }
}

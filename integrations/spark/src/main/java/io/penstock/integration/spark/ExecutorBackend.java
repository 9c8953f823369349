// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.resource.ResourceInformation;
import org.jspecify.annotations.Nullable;
import scala.Tuple2;

/**
 * The backend of an executor's device, and of its host memory, and the bytes that its tasks may have in flight. There
 * is one in each executor's JVM, or one per GPU if the executor has several.
 *
 * <p><b>Ownership:</b> opened for its first user and closed after its last. {@link PenstockPlugin} is a user as long as
 * the executor lives; without it each task is one.
 */
final class ExecutorBackend {

    static final String BACKEND = "spark.penstock.backend";
    static final String IN_FLIGHT = "spark.penstock.in-flight-bytes";
    private static final String PREFIX = "spark.penstock.";
    private static final String CUFILE_DEVICE = "penstock.cufile.device";
    private static final String NO_GPU = "";

    /** By address of the GPU. Guarded by this class. */
    private static final Map<String, ExecutorBackend> OPEN = new HashMap<>();

    /** Of the tasks to which Spark gave none: Spark schedules GPUs to executors alone, too. */
    private static volatile String addressOfExecutor = NO_GPU;

    private final String address;
    private final Backend device;
    private final Backend host;
    private final ByteBudget budget;
    private final LongAdder functions = new LongAdder();
    private int users;

    private ExecutorBackend(String address, SparkConf conf) {
        Options options = Options.none();
        for (Tuple2<String, String> setting : conf.getAllWithPrefix(PREFIX)) {
            if (!setting._1().equals("backend") && !setting._1().equals("in-flight-bytes")) {
                options = options.with("penstock." + setting._1(), setting._2());
            }
        }
        Options forHost = options;
        if (!address.equals(NO_GPU) && !conf.contains("spark." + CUFILE_DEVICE)) {
            options = options.with(CUFILE_DEVICE, address);
        }
        this.address = address;
        this.budget = new ByteBudget(JavaUtils.byteStringAsBytes(conf.get(IN_FLIGHT, "256m")));
        String name = conf.get(BACKEND, "");
        this.device = Backends.open(name.isEmpty() ? Backends.configured() : name, options);
        try {
            // The bytes of rows are in the heap, and do not pass through the device.
            this.host = device.capabilities().hostVisible() ? device : Backends.open("host", forHost);
        } catch (RuntimeException | Error e) {
            device.close();
            throw e;
        }
    }

    /** A use of the backends, which stay open until it is closed. A second close does nothing. */
    record Lease(ExecutorBackend of, AtomicBoolean closed) implements AutoCloseable {

        Backend device() {
            return of.device;
        }

        Backend host() {
            return of.host;
        }

        /** Returns both, or one if they are the same. */
        List<Backend> backends() {
            return of.host == of.device ? List.of(of.device) : List.of(of.device, of.host);
        }

        ByteBudget budget() {
            return of.budget;
        }

        /** Returns how long functions of device tasks have had their chunks, in nanoseconds. */
        LongAdder functions() {
            return of.functions;
        }

        @Override
        public void close() {
            if (closed.compareAndSet(false, true)) {
                of.release();
            }
        }
    }

    /** Returns a lease on the backend of the calling task. */
    static Lease lease() {
        TaskContext task = TaskContext.get();
        ResourceInformation gpu = task == null ? null : task.resourcesJMap().get("gpu");
        return lease(address(gpu), SparkEnv.get().conf());
    }

    /** Returns the first address of a task's GPUs, else of its executor's, an empty one if neither has one. */
    static String address(@Nullable ResourceInformation gpu) {
        return gpu == null || gpu.addresses().length == 0 ? addressOfExecutor : gpu.addresses()[0];
    }

    /** Sets the GPU of tasks to which Spark gives none; an empty address for none. */
    static void executorHas(String gpu) {
        addressOfExecutor = gpu;
    }

    /**
     * Returns a lease on the backend of a GPU.
     *
     * @throws io.penstock.BackendUnavailableException if it cannot be opened
     * @throws IllegalArgumentException for an unknown option among the settings {@code spark.penstock.*}, or a value
     *     out of range
     */
    static Lease lease(String address, SparkConf conf) {
        synchronized (ExecutorBackend.class) {
            ExecutorBackend open = OPEN.computeIfAbsent(address, gpu -> new ExecutorBackend(gpu, conf));
            open.users++;
            return new Lease(open, new AtomicBoolean());
        }
    }

    private void release() {
        synchronized (ExecutorBackend.class) {
            if (--users > 0) {
                return;
            }
            OPEN.remove(address);
            // Within the lock: a device must be closed before the next task opens it again.
            try {
                device.close();
            } finally {
                if (host != device) {
                    host.close();
                }
            }
        }
    }
}

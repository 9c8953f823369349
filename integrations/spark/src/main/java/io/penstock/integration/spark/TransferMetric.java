// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import io.penstock.TransferPath;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.metric.CustomSumMetric;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;

/**
 * A sum over the tasks of a scan, in Spark's user interface: bytes by path, and the times that tasks waited for bytes
 * in flight and for transfers. Public for Spark alone, which creates it by its name to add up.
 */
public final class TransferMetric extends CustomSumMetric {

    private static final String WAIT = "penstockWaitMillis";
    private static final String READ = "penstockReadMillis";

    private final String name;
    private final String description;

    /** Called by Spark. */
    public TransferMetric() {
        this("", "");
    }

    private TransferMetric(String name, String description) {
        this.name = name;
        this.description = description;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String description() {
        return description;
    }

    static CustomMetric[] all() {
        List<CustomMetric> all = new ArrayList<>();
        for (TransferPath path : TransferPath.values()) {
            all.add(new TransferMetric(name(path), "bytes read, path " + path));
        }
        all.add(new TransferMetric(WAIT, "wait for bytes in flight, ms"));
        all.add(new TransferMetric(READ, "wait for transfers, ms"));
        return all.toArray(new CustomMetric[0]);
    }

    private static String name(TransferPath path) {
        return "penstockBytes" + path.name().charAt(0)
                + path.name().substring(1).toLowerCase(Locale.ROOT);
    }

    /** The values of one task. Thread-safe. */
    static final class Values {

        private final Map<TransferPath, LongAdder> bytes = new EnumMap<>(TransferPath.class);
        private final LongAdder waits = new LongAdder();
        private final LongAdder reads = new LongAdder();

        Values() {
            for (TransferPath path : TransferPath.values()) {
                bytes.put(path, new LongAdder());
            }
        }

        /** Adds the bytes of a transfer that took this path. */
        void moved(TransferPath path, long count) {
            Objects.requireNonNull(bytes.get(path)).add(count);
        }

        /** Adds a time that the task waited for bytes in flight. */
        void waited(long time) {
            waits.add(time);
        }

        /** Adds a time that the task waited for transfers, and for the copies behind them. */
        void read(long time) {
            reads.add(time);
        }

        Map<TransferPath, LongAdder> bytes() {
            return bytes;
        }

        CustomTaskMetric[] current() {
            List<CustomTaskMetric> current = new ArrayList<>();
            bytes.forEach((path, sum) -> current.add(new Value(name(path), sum.sum())));
            current.add(new Value(WAIT, TimeUnit.NANOSECONDS.toMillis(waits.sum())));
            current.add(new Value(READ, TimeUnit.NANOSECONDS.toMillis(reads.sum())));
            return current.toArray(new CustomTaskMetric[0]);
        }
    }

    private record Value(String name, long value) implements CustomTaskMetric {}
}

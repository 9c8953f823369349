// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.register;

import io.penstock.Options;
import io.penstock.PenstockException;
import io.penstock.backend.cufile.CufileOptions;
import io.penstock.backend.cufile.Registering;
import io.penstock.backend.cufile.cuda.CudaContext;
import io.penstock.backend.cufile.device.CudaDriver;
import io.penstock.backend.cufile.device.GpuMemory;
import io.penstock.backend.cufile.device.GpuSpan;
import io.penstock.backend.cufile.driver.CuFileDriver;
import io.penstock.backend.cufile.driver.CuFileRefusal;
import io.penstock.backend.cufile.driver.CuFileSettings;
import io.penstock.backend.cufile.driver.DriverProperties;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.CuFileError;
import io.penstock.backend.cufile.file.CuFileHandles;
import io.penstock.backend.cufile.report.DriverStatistics;
import io.penstock.engine.kit.ElasticCalls;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The cuFile state of one backend: its use of the driver, taken at the first file, its files, and its rules for
 * registering memory.
 *
 * <p><b>Threading:</b> thread-safe; all methods except {@link #used} may block.
 */
public final class CuFileSession implements CudaDriver.Watcher {

    private static final Logger LOG = LoggerFactory.getLogger(CuFileSession.class);

    /** The number of transfers after which memory counts as reused. */
    private static final int REUSED = 2;

    private final CudaContext context;
    private final CuFileSettings settings;
    private final Registering registering;
    private final long registerBytes;
    private final CuFileHandles handles;
    private final AtomicLong refusedRegistrations = new AtomicLong();
    private final Set<GpuSpan> early = // allocated before the driver was open; guarded by itself
            Collections.newSetFromMap(new WeakHashMap<>());
    private volatile @Nullable CuFileDriver driver; // from the first file on
    private boolean closed; // guarded by this

    public CuFileSession(CudaContext context, Options options, CuFileHandles.Storages storages) {
        this.context = context;
        this.settings = CuFileSettings.of(options);
        this.registering = options.get(CufileOptions.REGISTER);
        this.registerBytes = options.get(CufileOptions.REGISTER_BYTES);
        this.handles = new CuFileHandles(storages);
    }

    public CudaContext context() {
        return context;
    }

    public CuFileHandles handles() {
        return handles;
    }

    /** Opens the driver, unless this session already has, and returns its properties. */
    public synchronized DriverProperties open() throws CuFileRefusal {
        CuFileDriver known = driver;
        if (known != null) {
            return known.properties();
        }
        if (closed) {
            throw new CuFileRefusal("the backend is closed");
        }
        CuFileRefusal[] refusal = new CuFileRefusal[1];
        CuFileDriver opened = context.run("opening cuFile's driver", () -> {
            try {
                return CuFileDriver.open(settings);
            } catch (CuFileRefusal e) {
                refusal[0] = e;
                return null;
            }
        });
        if (opened == null) {
            throw refusal[0];
        }
        driver = opened;
        registerEarly();
        return opened.properties();
    }

    /** Registers memory that was allocated before the driver was opened, and is still in use or kept for reuse. */
    private void registerEarly() {
        List<GpuSpan> spans;
        synchronized (early) {
            spans = List.copyOf(early);
            early.clear();
        }
        spans.forEach(this::registerIfSmall);
    }

    /** Returns the driver's properties; null before {@link #open}. */
    @Nullable
    public DriverProperties properties() {
        CuFileDriver known = driver;
        return known == null ? null : known.properties();
    }

    /** Returns the driver's counters, nothing before {@link #open}. */
    public DriverStatistics statistics() {
        return driver == null ? DriverStatistics.NONE : DriverStatistics.read();
    }

    /** Registers new memory, allocated or wrapped, if the rules require it. */
    @Override
    public void allocated(GpuMemory memory) {
        if (registering == Registering.ALWAYS) {
            try {
                open();
            } catch (CuFileRefusal e) {
                return; // opening a file will report it
            }
            register(memory.span());
            return;
        }
        synchronized (early) {
            if (driver == null) {
                early.add(memory.span());
                return;
            }
        }
        registerIfSmall(memory.span());
    }

    private void registerIfSmall(GpuSpan span) {
        if (span.bytes() <= registerBytes && isWorthwhile()) {
            register(span);
        }
    }

    /**
     * Counts a transfer that would have gone directly to or from registered memory; memory with several is registered,
     * on another thread. The transfer keeps the memory in use, so that its context is open.
     */
    public void used(GpuSpan span) {
        SpanRegistration registration = SpanRegistration.of(span);
        if (registration.isActive()
                || !registration.refusal().isEmpty()
                || !isWorthwhile()
                || registration.used(REUSED + 1) != REUSED) {
            return;
        }
        context.join(); // until it is registered: the transfer may end and the backend close before that
        ElasticCalls.run(() -> {
            try {
                registerUnlessClosed(span);
            } finally {
                context.leave();
            }
        });
    }

    private void registerUnlessClosed(GpuSpan span) {
        CuFileDriver open;
        synchronized (this) {
            if (closed || driver == null) {
                return;
            }
            open = CuFileDriver.join();
        }
        try {
            register(span);
        } finally {
            open.leave();
        }
    }

    private boolean isWorthwhile() {
        DriverProperties known = properties();
        return registering == Registering.AUTO && known != null && known.mayBeDirect();
    }

    private void register(GpuSpan span) {
        SpanRegistration registration = SpanRegistration.of(span);
        String why = whyNot(span);
        if (!why.isEmpty()) {
            registration.refuse(why);
            return;
        }
        try {
            context.run("registration", () -> {
                try {
                    registration.register();
                } catch (CuFileRefusal e) {
                    logOnce(e);
                }
                return registration;
            });
        } catch (PenstockException lost) {
            registration.refuse(String.valueOf(lost.getMessage()));
        }
    }

    private String whyNot(GpuSpan span) {
        if (span.address() % CuFile.BLOCK_BYTES != 0) {
            return "this memory starts at no multiple of " + CuFile.BLOCK_BYTES;
        }
        long bar = barBytes();
        if (registering == Registering.AUTO && bar < context.gpu().bytes()) {
            return "this GPU's BAR of " + (bar >> 20) + " MiB is smaller than its memory";
        }
        return "";
    }

    /**
     * Returns the size of the BAR through which peers access the GPU's memory; the size of the memory if cuFile cannot
     * report it.
     */
    private long barBytes() {
        long[] kilobytes = new long[1];
        long status = CuFile.cuFileGetBARSizeInKB(context.gpu().ordinal(), kilobytes);
        return CuFile.error(status) == CuFileError.SUCCESS ? kilobytes[0] << 10 : Long.MAX_VALUE;
    }

    private void logOnce(CuFileRefusal refusal) {
        if (refusedRegistrations.getAndIncrement() == 0) {
            LOG.info("cuFile bounces some of this backend's memory: {}", refusal.getMessage());
        }
    }

    /** Leaves the driver. */
    @Override
    public synchronized void close() {
        CuFileDriver known = driver;
        if (!closed && known != null) {
            known.leave();
        }
        closed = true;
    }
}

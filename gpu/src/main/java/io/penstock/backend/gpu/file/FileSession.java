// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.file;

import io.penstock.Options;
import io.penstock.PenstockException;
import io.penstock.backend.gpu.api.DriverProperties;
import io.penstock.backend.gpu.api.FileApi;
import io.penstock.backend.gpu.api.FileRefusal;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.device.GpuDevice;
import io.penstock.backend.gpu.device.GpuMemory;
import io.penstock.backend.gpu.device.GpuSpan;
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
 * The state of the file API of one backend: its use of the driver, taken at the first file, its files, and its rules for
 * registering memory.
 *
 * <p><b>Threading:</b> thread-safe; all methods except {@link #used} may block.
 */
public final class FileSession implements GpuDevice.Watcher {

    private static final Logger LOG = LoggerFactory.getLogger(FileSession.class);

    // Values of the option register, the third is NEVER.
    private static final String AUTO = "AUTO";
    private static final String ALWAYS = "ALWAYS";

    /** The number of transfers after which memory counts as reused. */
    private static final int REUSED = 2;

    private final GpuContext context;
    private final FileApi files;
    private final FileSettings settings;
    private final String registering;
    private final long registerBytes;
    private final FileHandles handles;
    private final AtomicLong refusedRegistrations = new AtomicLong();
    private final Set<GpuSpan> early = // allocated before the driver was open; guarded by itself
            Collections.newSetFromMap(new WeakHashMap<>());
    private volatile @Nullable FileDriver driver; // from the first file on
    private boolean closed; // guarded by this

    public FileSession(GpuContext context, Options options, FileSettings settings, FileHandles.Storages storages) {
        this.context = context;
        this.files = context.files();
        this.settings = settings;
        this.registering = options.get(context.options().register()).name();
        this.registerBytes = options.get(context.options().registerBytes());
        this.handles = new FileHandles(files, storages);
    }

    public GpuContext context() {
        return context;
    }

    public FileHandles handles() {
        return handles;
    }

    /** Opens the driver, unless this session already has, and returns its properties. */
    public synchronized DriverProperties open() throws FileRefusal {
        FileDriver known = driver;
        if (known != null) {
            return known.properties();
        }
        if (closed) {
            throw new FileRefusal("the backend is closed");
        }
        FileRefusal[] refusal = new FileRefusal[1];
        FileDriver opened = context.run("opening " + files.product() + "'s driver", () -> {
            try {
                return FileDriver.open(files, settings);
            } catch (FileRefusal e) {
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
        FileDriver known = driver;
        return known == null ? null : known.properties();
    }

    /** Returns true if the driver's counters prove that nothing has gone through host memory. */
    public boolean provesDirect() {
        return driver != null && settings.provesDirect();
    }

    /** Registers new memory, allocated or wrapped, if the rules require it. */
    @Override
    public void allocated(GpuMemory memory) {
        if (registering.equals(ALWAYS)) {
            try {
                open();
            } catch (FileRefusal e) {
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
        FileDriver open;
        synchronized (this) {
            if (closed || driver == null) {
                return;
            }
            open = FileDriver.join(files);
        }
        try {
            register(span);
        } finally {
            open.leave();
        }
    }

    private boolean isWorthwhile() {
        DriverProperties known = properties();
        return registering.equals(AUTO) && known != null && known.mayBeDirect();
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
                } catch (FileRefusal e) {
                    logOnce(e);
                }
                return registration;
            });
        } catch (PenstockException lost) {
            registration.refuse(String.valueOf(lost.getMessage()));
        }
    }

    private String whyNot(GpuSpan span) {
        if (span.address() % FileApi.BLOCK_BYTES != 0) {
            return "this memory starts at no multiple of " + FileApi.BLOCK_BYTES;
        }
        long bar = files.barBytes(context.gpu().ordinal());
        if (registering.equals(AUTO) && bar < context.gpu().bytes()) {
            return "this GPU's BAR of " + (bar >> 20) + " MiB is smaller than its memory";
        }
        return "";
    }

    private void logOnce(FileRefusal refusal) {
        if (refusedRegistrations.getAndIncrement() == 0) {
            LOG.info("{} bounces some of this backend's memory: {}", files.product(), refusal.getMessage());
        }
    }

    /** Leaves the driver. */
    @Override
    public synchronized void close() {
        FileDriver known = driver;
        if (!closed && known != null) {
            known.leave();
        }
        closed = true;
    }
}

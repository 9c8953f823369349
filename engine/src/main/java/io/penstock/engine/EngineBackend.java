// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.Backend;
import io.penstock.Capabilities;
import io.penstock.Chunk;
import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.DrainPlan;
import io.penstock.Explanation;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Route;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** A backend: a driver's device, the routes to it in order of preference, and the lanes that carry them. */
final class EngineBackend implements Backend, Port {

    private final String name;
    private final DeviceDriver driver;
    private final List<Route> routes;
    private final List<Lanes> lanes = new ArrayList<>();
    private final Scheduler scheduler;
    private final boolean direct;
    private final boolean poisoning;
    private final boolean detectingLeaks;
    private final Duration closeTimeout;
    private final RouteChoice choice;
    private final Intake intake;
    private final Copies copies = new Copies(this);
    private final Checks checks = new Checks(this);
    private final OpenResources resources = new OpenResources();
    private final Closing closing;

    private EngineBackend(String name, DeviceDriver driver, List<Route> routes, Options options) {
        this.name = name;
        this.driver = driver;
        this.routes = List.copyOf(routes);
        CommonOptions.Delivery delivery = options.get(CommonOptions.DELIVERY);
        this.scheduler =
                delivery == CommonOptions.Delivery.ELASTIC ? Schedulers.boundedElastic() : Schedulers.parallel();
        this.direct = delivery == CommonOptions.Delivery.DIRECT;
        this.poisoning = options.get(CommonOptions.POISON);
        this.detectingLeaks = options.get(CommonOptions.LEAK_DETECTION);
        this.closeTimeout = options.get(CommonOptions.CLOSE_TIMEOUT);
        this.closing = new Closing(this);
        this.choice = new RouteChoice(name, this.routes);
        this.intake = new Intake(this, checks);
    }

    static Backend open(String name, DeviceDriver driver, List<Route> routes, Options options) {
        return open(name, driver, routes, options, route -> LaneThreads.acquire(route, options));
    }

    /** As above, on lanes of a simulation's. */
    static EngineBackend open(
            String name,
            DeviceDriver driver,
            List<Route> routes,
            Options options,
            Function<? super Route, ? extends Lanes> lanes) {
        EngineBackend backend = new EngineBackend(name, driver, routes, options);
        try {
            for (Route route : backend.routes) {
                backend.lanes.add(lanes.apply(route));
            }
            return backend;
        } catch (RuntimeException e) {
            CompletableFuture<?>[] stops =
                    backend.lanes.stream().map(Lanes::release).toArray(CompletableFuture[]::new);
            CompletableFuture.allOf(stops).join();
            driver.close();
            throw e;
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Capabilities capabilities() {
        return driver.capabilities();
    }

    @Override
    public Scheduler scheduler() {
        return scheduler;
    }

    @Override
    public boolean isDirectDelivery() {
        return direct;
    }

    @Override
    public boolean isPoisoning() {
        return poisoning;
    }

    @Override
    public boolean isDetectingLeaks() {
        return detectingLeaks;
    }

    @Override
    public Mono<StorageFile> openFile(Path path, FileOption... options) {
        return openFile(path, options.length == 0 ? Set.of(FileOption.READ) : Set.of(options));
    }

    @Override
    public Mono<StorageFile> openFile(Path path, Set<FileOption> options) {
        Checks.fileOptions(path, options);
        return new MonoOpen<>(this, () -> resources.openFile(this, path, options));
    }

    @Override
    public Mono<DeviceBuffer> allocate(long bytes) {
        Checks.bufferBytes(bytes);
        return new MonoOpen<>(this, () -> allocateNow(bytes));
    }

    @Override
    public DeviceBuffer allocateNow(long bytes) {
        Checks.bufferBytes(bytes);
        return buffer("allocation of " + bytes + " bytes", bytes, () -> driver.allocate(bytes));
    }

    @Override
    public DeviceBuffer wrap(long nativeHandle, long bytes) {
        Checks.bufferBytes(bytes);
        return buffer("wrapping of " + bytes + " bytes", bytes, () -> driver.wrap(nativeHandle, bytes));
    }

    @Override
    public DeviceBuffer wrap(ByteBuffer memory) {
        if (!memory.isDirect() || memory.isReadOnly()) {
            throw new IllegalArgumentException("only direct, writable buffers can be wrapped, unlike " + memory);
        }
        int bytes = memory.remaining();
        return buffer("wrapping of " + bytes + " bytes", bytes, () -> driver.wrap(memory.slice()));
    }

    private DeviceBuffer buffer(String request, long bytes, Supplier<DeviceMemory> source) {
        if (!enter()) {
            throw Failures.closed(request, "the backend");
        }
        try {
            return resources.add(new EngineBuffer(this, source.get(), bytes));
        } finally {
            leave();
        }
    }

    @Override
    public Mono<Completion> submit(Transfer transfer) {
        checks.transfer(transfer);
        return new MonoSubmit(this, transfer);
    }

    @Override
    public Flux<Completion> submit(Publisher<Transfer> transfers, SubmitOptions options) {
        return new FluxSubmit(this, transfers, options);
    }

    @Override
    public Mono<DeviceFence> enqueue(Transfer transfer) {
        checks.transfer(transfer);
        return new MonoEnqueue(this, transfer);
    }

    @Override
    public DeviceFence fence(long nativeEvent) {
        return new BroughtFence(driver.fence(nativeEvent), this);
    }

    @Override
    public boolean isDeviceAddress(long address) {
        return driver.isDeviceAddress(address);
    }

    @Override
    public <T> Flux<T> stream(StreamPlan plan, Function<? super Chunk, ? extends Publisher<? extends T>> use) {
        return new FluxStream<>(this, plan, use);
    }

    @Override
    public Mono<Long> drain(DrainPlan plan, Function<? super Chunk, ? extends Publisher<Long>> fill) {
        return new MonoDrain(this, plan, fill);
    }

    @Override
    public Explanation explain(Transfer transfer) {
        checks.transfer(transfer);
        return Explaining.explain(this, transfer);
    }

    // Of the engine.

    @Override
    public void open(OpenTransfer open) {
        intake.open(open);
    }

    Intake intake() {
        return intake;
    }

    RouteChoice choice() {
        return choice;
    }

    /** Hands a request to a lane. One that comes when close() has given up what was open is given up, too. */
    void start(Lane lane, SingleRequest single) {
        lane.accept(single);
        if (closing.isAbandoned()) {
            lane.post(() -> lane.abandon(this));
        }
    }

    boolean enter() {
        return closing.pins().tryPin();
    }

    void leave() {
        closing.pins().unpin();
    }

    List<Route> routes() {
        return routes;
    }

    List<Lanes> lanes() {
        return lanes;
    }

    DeviceDriver driver() {
        return driver;
    }

    Duration closeTimeout() {
        return closeTimeout;
    }

    Copies copies() {
        return copies;
    }

    OpenResources resources() {
        return resources;
    }

    void forget(AutoCloseable closed) {
        resources.forget(closed);
    }

    Lanes lanes(int route) {
        return lanes.get(route);
    }

    Route route(int index) {
        return routes.get(index);
    }

    /** Returns the most general route. */
    int lastRoute() {
        return routes.size() - 1;
    }

    /** Runs a call on a file that may block, off the lanes; the file stays open meanwhile. */
    Mono<Void> control(EngineFile file, String what, FileCall call) {
        String request = what + " of " + file.path().getFileName();
        return Offload.run(this, () -> {
            if (!file.tryPin()) {
                throw Failures.closed(request, "the file");
            }
            try {
                call.run(file.nativeFile());
                return null;
            } catch (IOException e) {
                throw Failures.control(request, e);
            } finally {
                file.unpin();
            }
        });
    }

    /** A call on a native file. */
    @FunctionalInterface
    interface FileCall {
        void run(NativeFile file) throws IOException;
    }

    @Override
    public void close() {
        closing.close();
    }

    @Override
    public Mono<Void> closeLater() {
        return closing.later();
    }

    @Override
    public String toString() {
        return "backend " + name;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.Backend;
import io.penstock.Backend.Counters;
import io.penstock.Capabilities;
import io.penstock.Chunk;
import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.DeviceLostException;
import io.penstock.Explanation;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Pack;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import io.penstock.TransferListener;
import io.penstock.WritePlan;
import io.penstock.engine.kit.MonoOpen;
import io.penstock.engine.kit.remote.RemoteProvider;
import io.penstock.engine.pack.FluxPack;
import io.penstock.engine.pack.Unpacking;
import io.penstock.engine.publisher.Copies;
import io.penstock.engine.publisher.FluxSubmit;
import io.penstock.engine.publisher.MonoEnqueue;
import io.penstock.engine.publisher.MonoSubmit;
import io.penstock.engine.publisher.MonoSync;
import io.penstock.engine.queue.ImportedFence;
import io.penstock.engine.queue.IoQueue;
import io.penstock.engine.queue.IoQueues;
import io.penstock.engine.queue.IoThread;
import io.penstock.engine.queue.IoThreads;
import io.penstock.engine.queue.OpenTransfer;
import io.penstock.engine.queue.Port;
import io.penstock.engine.queue.SingleRequest;
import io.penstock.engine.queue.TransferListeners;
import io.penstock.engine.recording.FlightRecording;
import io.penstock.engine.resource.EngineBuffer;
import io.penstock.engine.resource.EngineFile;
import io.penstock.engine.resource.Failures;
import io.penstock.engine.resource.FileThreads;
import io.penstock.engine.resource.Offload;
import io.penstock.engine.resource.OpenResources;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.stream.FluxStream;
import io.penstock.engine.stream.MonoWrite;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.reactivestreams.Publisher;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** A backend: a driver's device, the paths to it in order of preference, and their I/O queues. */
final class EngineBackend implements Backend, Port {

    private final String name;
    private final DeviceDriver driver;
    private final Options options;
    private final FileThreads fileThreads;
    private final List<IoPath> ioPaths;
    private final List<IoQueues> ioQueues = new ArrayList<>();
    private final DeliveryThreads deliveryThreads;
    private final boolean poisoning;
    private final boolean detectingLeaks;
    private final PathChoice choice;
    private final Copies copies = new Copies(this);
    private final Checks checks = new Checks(this);
    private final Intake intake;
    private final OpenResources resources = new OpenResources();
    private final RemoteProviders remotes = RemoteProviders.here();
    private final TransferListeners listeners = new TransferListeners();
    private final Closing closing;
    private volatile Disposable recorded = Disposables.disposed();

    private EngineBackend(
            String name, DeviceDriver driver, List<IoPath> ioPaths, Options options, FileThreads fileThreads) {
        this.fileThreads = fileThreads;
        this.name = name;
        this.driver = driver;
        this.options = options;
        this.ioPaths = List.copyOf(ioPaths);
        this.poisoning = options.get(CommonOptions.POISON) || options.get(CommonOptions.DEBUG);
        this.detectingLeaks = options.get(CommonOptions.LEAK_DETECTION) || options.get(CommonOptions.DEBUG);
        this.deliveryThreads = new DeliveryThreads(options);
        this.closing = new Closing(this, options.get(CommonOptions.CLOSE_TIMEOUT));
        this.choice = new PathChoice(name, this.ioPaths, new Fallbacks());
        this.intake = new Intake(this, checks, choice);
    }

    static Backend open(String name, DeviceDriver driver, List<IoPath> ioPaths, Options options) {
        EngineBackend backend = new EngineBackend(name, driver, ioPaths, options, FileThreads.shared());
        return backend.start(ioPath -> IoThreads.acquire(ioPath, options));
    }

    /** As above, on simulated I/O queues. */
    static EngineBackend open(
            String name,
            DeviceDriver driver,
            List<IoPath> ioPaths,
            Options options,
            Function<? super IoPath, ? extends IoQueues> ioQueues) {
        return new EngineBackend(name, driver, ioPaths, options, new FileThreads(Schedulers.boundedElastic()))
                .start(ioQueues);
    }

    private EngineBackend start(Function<? super IoPath, ? extends IoQueues> acquire) {
        try {
            for (IoPath ioPath : ioPaths) {
                ioQueues.add(acquire.apply(ioPath));
            }
            recorded = FlightRecording.countersOf(this);
            announce();
            return this;
        } catch (RuntimeException | Error e) { // such as no more threads
            ioQueues.stream().map(IoQueues::release).toList().forEach(CompletableFuture::join);
            deliveryThreads.stop();
            driver.close();
            throw e;
        }
    }

    private void announce() {
        LoggerFactory.getLogger(EngineBackend.class).info("{}: {}", this, means());
        for (IoPath ioPath : ioPaths) {
            if (ioPath.isFallback()) {
                FlightRecording.fallback(name, "all", ioPath.path(), ioPath.means());
            }
        }
    }

    @Override
    public String means() {
        return ioPaths.stream().map(IoPath::means).distinct().collect(Collectors.joining(", or "));
    }

    @Override
    public boolean isFallback() {
        return ioPaths.stream().anyMatch(IoPath::isFallback);
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
        return deliveryThreads.scheduler();
    }

    @Override
    public boolean isDirectDelivery() {
        return deliveryThreads.isDirect();
    }

    @Override
    public long nanos() {
        return IoThread.nanos();
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
    public Scheduler batchScheduler() {
        return deliveryThreads.batchScheduler();
    }

    @Override
    public Mono<StorageFile> openFile(Path path, FileOption... options) {
        return openFile(path, options.length == 0 ? Set.of(FileOption.READ) : Set.of(options));
    }

    @Override
    public Mono<StorageFile> openFile(Path path, Set<FileOption> options) {
        if (path.getFileSystem().provider() instanceof RemoteProvider remote) {
            return openRemote(path.toUri(), options, remote);
        }
        Checks.fileOptions(path, options);
        return new MonoOpen<>(
                call -> fileThreads.run(path, call),
                delivery(),
                () -> resources.openFile(this, ioPaths, path, options));
    }

    @Override
    public Mono<StorageFile> openFile(URI uri, FileOption... options) {
        return openFile(uri, options.length == 0 ? Set.of(FileOption.READ) : Set.of(options));
    }

    private Mono<StorageFile> openFile(URI uri, Set<FileOption> options) {
        String scheme = Checks.scheme(uri);
        if (scheme.equals("file")) {
            return openFile(Path.of(uri), options);
        }
        RemoteProvider known = remotes.known(scheme);
        return known != null
                ? openRemote(uri, options, known)
                : openRemote(uri, options, RemoteProviders.later(uri, scheme));
    }

    private Mono<StorageFile> openRemote(URI uri, Set<FileOption> options, RemoteProvider provider) {
        Checks.remoteOptions(uri, options, provider.fileOptions());
        return openRemote(uri, options, () -> provider);
    }

    private Mono<StorageFile> openRemote(URI uri, Set<FileOption> options, Supplier<RemoteProvider> provider) {
        return MonoOpen.interruptible(Offload.scheduler(true), delivery(), () -> {
            RemoteProvider found = provider.get();
            Checks.remoteOptions(uri, options, found.fileOptions());
            return resources.openRemote(this, ioPaths, found, uri, options, this.options);
        });
    }

    @Override
    public Mono<DeviceBuffer> allocate(long bytes) {
        Checks.bufferBytes(bytes);
        return open(() -> allocateNow(bytes));
    }

    @Override
    public DeviceBuffer allocateNow(long bytes) {
        Checks.bufferBytes(bytes);
        return buffer("allocation of " + bytes + " bytes", () -> driver.allocate(bytes), memory -> bytes);
    }

    @Override
    public DeviceBuffer wrap(long nativeHandle, long bytes) {
        Checks.bufferBytes(bytes);
        return buffer("wrapping of " + bytes + " bytes", () -> driver.wrap(nativeHandle, bytes), memory -> bytes);
    }

    @Override
    public DeviceBuffer wrap(ByteBuffer memory) {
        if (!memory.isDirect() || memory.isReadOnly()) {
            throw new IllegalArgumentException("buffer must be direct and writable, was " + memory);
        }
        int bytes = memory.remaining();
        return buffer("wrapping of " + bytes + " bytes", () -> driver.wrap(memory.slice()), wrapped -> bytes);
    }

    @Override
    public Mono<DeviceBuffer> openBuffer(URI uri) {
        if (!driver.scheme().equalsIgnoreCase(uri.getScheme())) {
            throw new IllegalArgumentException(this + " opens no memory of other processes by this URI: " + uri);
        }
        return open(() -> buffer("opening of " + uri, () -> driver.open(uri), DeviceMemory::bytes));
    }

    private <T extends AutoCloseable> Mono<T> open(Callable<T> call) {
        return new MonoOpen<>(Schedulers.boundedElastic()::schedule, delivery(), call);
    }

    private DeviceBuffer buffer(String request, Supplier<DeviceMemory> source, ToLongFunction<DeviceMemory> length) {
        if (!enter()) {
            throw Failures.closed(request, "the backend");
        }
        try {
            DeviceMemory memory =
                    Objects.requireNonNull(source.get(), () -> "the driver returned null for the " + request);
            return resources.add(new EngineBuffer(this, memory, length.applyAsLong(memory)));
        } catch (DeviceLostException lost) {
            deviceLost();
            throw lost;
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
        return new ImportedFence(driver.fence(nativeEvent), this);
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
    public Mono<Long> write(WritePlan plan, Function<? super Chunk, ? extends Publisher<Long>> fill) {
        return new MonoWrite(this, plan, fill);
    }

    @Override
    public Flux<Pack> pack(Publisher<Path> paths, Pack.Plan plan) {
        return new FluxPack(this, options, paths, plan);
    }

    @Override
    public Flux<Pack.Entry> unpack(Publisher<? extends Pack> packs, Pack.Writing how) {
        return Unpacking.of(this, packs, how);
    }

    @Override
    public Explanation explain(Transfer transfer) {
        checks.transfer(transfer);
        return choice.explain(transfer);
    }

    @Override
    public Disposable listen(TransferListener listener) {
        return listeners.add(listener);
    }

    @Override
    public Counters counters() {
        return resources.counters(
                closing.inFlight(),
                ioQueues.stream().mapToInt(IoQueues::stagingBuffers).sum(),
                ioQueues.stream().mapToInt(IoQueues::stagingBuffersInUse).sum(),
                choice.fallbacks().count());
    }

    @Override
    public List<List<StagingState>> stagingStates() {
        return ioQueues.stream().flatMap(IoQueues::stagingStates).toList();
    }

    @Override
    public TransferListeners listeners() {
        return listeners;
    }

    @Override
    public Mono<Void> sync(EngineFile file) {
        return new MonoSync(this, file);
    }

    @Override
    public Mono<Long> upload(EngineBuffer buffer, long offset, ByteBuffer from) {
        return copies.upload(buffer, offset, from);
    }

    @Override
    public Mono<Long> download(EngineBuffer buffer, long offset, ByteBuffer to) {
        return copies.download(buffer, offset, to);
    }

    @Override
    public Mono<Long> downloadPinned(EngineBuffer buffer, long offset, ByteBuffer to) {
        return copies.downloadPinned(buffer, offset, to);
    }

    Intake intake() {
        return intake;
    }

    @Override
    public void open(OpenTransfer transfer) {
        intake.open(transfer);
    }

    @Override
    public void left(OpenTransfer transfer) {
        intake.left(transfer);
    }

    @Override
    public void lost(OpenTransfer transfer) {
        intake.lost(transfer);
    }

    @Override
    public void deviceLost() {
        resources.deviceLost();
    }

    @Override
    public void start(IoQueue ioQueue, SingleRequest single) {
        ioQueue.accept(single);
        if (closing.isAbandoned()) {
            ioQueue.post(() -> ioQueue.abandon(this));
        }
    }

    @Override
    public boolean enter() {
        return closing.pins().tryPin();
    }

    @Override
    public boolean enterWhileOpen() {
        return closing.pins().tryPinAgain();
    }

    @Override
    public void leave() {
        closing.pins().unpin();
    }

    @Override
    public List<IoPath> ioPaths() {
        return ioPaths;
    }

    List<IoQueues> ioQueues() {
        return ioQueues;
    }

    @Override
    public DeviceDriver driver() {
        return driver;
    }

    @Override
    public FileThreads fileThreads() {
        return fileThreads;
    }

    @Override
    public OpenResources resources() {
        return resources;
    }

    @Override
    public IoQueue pick(int ioPath) {
        return ioQueues.get(ioPath).pick();
    }

    DeliveryThreads deliveryThreads() {
        return deliveryThreads;
    }

    /** Emits no more counters: the backend is being closed. */
    void stopRecording() {
        recorded.dispose();
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

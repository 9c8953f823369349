// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import io.penstock.TransferListener;
import io.penstock.engine.Engine;
import io.penstock.engine.FakeDevice;
import io.penstock.engine.order.BusyRegions;
import io.penstock.engine.spi.Limits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/** Short reads of what the host has in memory, which the thread makes that opens them. */
class CachedReadTest {

    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Path PATH = Path.of("model.bin");
    private static final int MOST = 100;

    private final FakeDevice device = new FakeDevice(Limits.none(1 << 20));
    private final FakeDevice.MemoryFile content = device.new MemoryFile(new byte[2 * MOST]);
    private final AtomicInteger asked = new AtomicInteger();
    private final List<Thread> endings = Collections.synchronizedList(new ArrayList<>());
    private Backend backend;
    private StorageFile file;
    private DeviceBuffer buffer;

    @BeforeEach
    void open() {
        open(Options.none());
    }

    private void open(Options options) {
        device.files.put(PATH, content);
        device.mostCachedBytes = MOST;
        content.cached = bytes -> {
            asked.incrementAndGet();
            return bytes;
        };
        backend = Engine.open("fake", device, List.of(device), options.resolve(CommonOptions.all()));
        file = Objects.requireNonNull(
                backend.openFile(PATH, FileOption.READ, FileOption.WRITE).block(LONG));
        buffer = Objects.requireNonNull(backend.allocate(2 * MOST).block(LONG));
        backend.listen(new TransferListener() {
            @Override
            public void ended(Completion completion) {
                endings.add(Thread.currentThread());
            }
        });
    }

    @AfterEach
    void nothingLeaks() {
        backend.close();
        assertThat(backend.counters().inFlight()).isZero();
        assertThat(device.freed).hasValue(device.allocated.get());
        assertThat(BusyRegions.ALL.isEmpty()).isTrue();
    }

    private Transfer read(int bytes) {
        return Transfer.read(file.region(0, bytes), buffer.region(0, bytes));
    }

    private final class Opened extends OpenTransfer {
        int ends;

        Opened(Transfer transfer) {
            super((Port) backend, transfer);
        }

        @Override
        protected boolean mayEndHere() {
            return true;
        }

        @Override
        protected void ended() {
            ends++;
        }
    }

    @Test
    void itHasEndedWhenItWasOpened() {
        Opened opened = new Opened(read(MOST));
        opened.open();
        assertThat(opened.ends).isEqualTo(1);
        assertThat(opened.completion().bytes()).isEqualTo(MOST);
        assertThat(opened.completion().startedNanos())
                .isBetween(
                        opened.completion().subscribedNanos(),
                        opened.completion().endedNanos());
        assertThat(endings).containsExactly(Thread.currentThread());
        opened.cancel();
        assertThat(BusyRegions.ALL.isEmpty()).isTrue();
    }

    @Test
    void whatIsNotInMemoryIsReadByTheQueue() {
        content.cached = bytes -> bytes - 1;
        Completion read = Objects.requireNonNull(backend.submit(read(MOST)).block(LONG));
        assertThat(read.bytes()).isEqualTo(MOST);
        assertThat(endings).hasSize(1).allMatch(thread -> thread instanceof IoThread);
    }

    @Test
    void longOnesAndOthersAreLeftToTheQueue() {
        backend.submit(read(MOST + 1)).block(LONG);
        backend.submit(read(0)).block(LONG);
        backend.submit(read(MOST).deadline(LONG)).block(LONG);
        backend.submit(read(MOST).ordered("key")).block(LONG);
        backend.submit(Transfer.write(buffer.region(0, 1), file.region(0, 1))).block(LONG);
        backend.submit(Transfer.gather(file, new long[] {0, 10}, 1, buffer.region(0, 2)))
                .block(LONG);
        assertThat(asked).hasValue(0);
        backend.submit(read(1)).block(LONG);
        assertThat(asked).hasValue(1);
    }

    /** Its memory is written until it returns: who asks behind the cancel must find the region busy (rule 205). */
    @Test
    void aCancelMeanwhileDropsTheResultAndMarksTheRegionUntilItHasEnded() {
        Opened opened = new Opened(read(MOST));
        List<Boolean> busy = new ArrayList<>();
        content.cached = bytes -> {
            opened.cancel();
            busy.add(!BusyRegions.ALL.isEmpty());
            return bytes;
        };
        opened.open();
        assertThat(busy).containsExactly(true);
        assertThat(opened.ends).isZero();
        assertThat(BusyRegions.ALL.isEmpty()).isTrue();
    }

    @Test
    void aCancelMeanwhileEndsWhatTheQueueWouldHaveToDo() {
        Opened opened = new Opened(read(MOST));
        content.cached = bytes -> {
            opened.cancel();
            return 0;
        };
        opened.open();
        backend.submit(read(1).deadline(LONG)).block(LONG); // behind it, on the one I/O queue
        assertThat(opened.ends).isZero();
        assertThat(BusyRegions.ALL.isEmpty()).isTrue();
    }

    @Test
    void oneThatWasCancelledIsNotRead() {
        Opened opened = new Opened(read(MOST));
        opened.cancel();
        opened.open();
        assertThat(asked).hasValue(0);
    }

    @Test
    void regionsThatAreBusyAreLeftToTheQueueWhichWaits() {
        Opened holder = new Opened(Transfer.write(buffer.region(0, 1), file.region(0, 1)));
        device.queue.hold = true;
        holder.open();
        backend.submit(Transfer.read(file.region(MOST, 0), buffer.region(MOST, 0)))
                .block(LONG); // it has the holder
        holder.cancel();
        assertThat(BusyRegions.ALL.isEmpty()).isFalse();
        Opened opened = new Opened(read(MOST));
        opened.open();
        assertThat(asked).hasValue(0);
        device.queue.releaseAll();
    }

    @Test
    void itsSignalsComeFromTheScheduler() {
        List<Thread> signals = new ArrayList<>();
        backend.submit(read(MOST))
                .doOnNext(read -> signals.add(Thread.currentThread()))
                .block(LONG);
        assertThat(asked).hasValue(1);
        assertThat(endings).containsExactly(Thread.currentThread());
        assertThat(signals).hasSize(1).doesNotContain(Thread.currentThread());
    }

    @Test
    void directDeliveryHasTheQueueReadIt() {
        backend.close();
        open(Options.none().with(CommonOptions.DELIVERY, CommonOptions.Delivery.DIRECT));
        backend.submit(read(MOST)).block(LONG);
        assertThat(asked).hasValue(0);
    }

    @Test
    void aStreamOfThemLeavesOneOfManyToTheQueue() {
        List<Completion> all = backend.submit(
                        Flux.range(0, 771).map(any -> read(MOST)), SubmitOptions.DEFAULT.inFlight(1))
                .collectList()
                .block(LONG);
        assertThat(all).hasSize(771);
        assertThat(asked).hasValue(768);
    }

    @Test
    void manyInFlightAreLeftToTheQueue() {
        backend.submit(Flux.range(0, 20).map(any -> read(MOST)), SubmitOptions.DEFAULT.inFlight(20))
                .collectList()
                .block(LONG);
        assertThat(asked).hasValue(0);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceFence;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.backend.opencl.cl.ClFence;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.context.ClPoint;
import io.penstock.backend.opencl.fakes.FreshSsg;
import io.penstock.backend.opencl.fakes.SsgFake;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.ffi.Ssg;
import io.penstock.backend.opencl.memory.ClMemory;
import io.penstock.backend.opencl.ssg.ClSsg;
import io.penstock.backend.opencl.ssg.ClSsgPath;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Request;
import io.penstock.engine.testing.FakeControl;
import io.penstock.engine.testing.Requests;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Mono;

/** The queue of AMD's extension, turn by turn. */
@ExtendWith(FreshSsg.class)
class SsgQueueTest {

    private static final int BYTES = 4096;

    private final FakeControl control = SsgFake.control();

    private final Requests requests = new Requests();
    private ClContext context;
    private ClSsg ssg;
    private ClSsgPath ioPath;
    private NativeFile file;
    private ClMemory memory;
    private NativeQueue queue;

    private void open(Options wanted) throws IOException {
        Options options = wanted.resolve(Backends.options());
        context = ClContext.open(options);
        assertThat(Ssg.load(context.device().platform().handle())).isEmpty();
        ssg = ClSsg.open(context, options);
        ioPath = new ClSsgPath(ssg, true);
        file = ioPath.open(SsgFixture.write("turns", new byte[BYTES]), EnumSet.of(FileOption.READ));
        memory = ssg.memory().allocate(BYTES);
        queue = ioPath.openQueue();
    }

    private void close() {
        queue.close();
        memory.free();
        file.close();
        ssg.leave();
        context.leave();
    }

    private Request read(int tag) {
        return requests.next(tag).file(Request.Kind.READ, file, 0, BYTES).memory(memory, 0);
    }

    private void turns(int until) {
        long start = System.nanoTime();
        while (requests.ended() < until && System.nanoTime() - start < SsgFixture.LONG.toNanos()) {
            queue.turn(1_000_000);
        }
    }

    /** A driver need not start what is not flushed. */
    @Test
    void commandsAreFlushed() throws IOException {
        open(SsgFixture.OPTIONS);
        queue.enqueue(read(0));
        queue.enqueue(read(1));
        turns(2);
        assertThat(List.of(requests.result(0), requests.result(1))).containsExactly((long) BYTES, (long) BYTES);
        close();
    }

    @Test
    void mapsOfStagingBuffersAreFlushed() throws IOException {
        open(SsgFixture.OPTIONS);
        DeviceMemory staging = ioPath.allocateBounceBuffer(2 * BYTES);
        queue.enqueue(
                requests.next(0).file(Request.Kind.READ, file, 0, 2 * BYTES).memory(staging, 0));
        turns(1);
        assertThat(requests.result(0)).isEqualTo(BYTES);
        staging.free();
        close();
    }

    /** Both end between the query of the first and the query of the second. */
    @Test
    void aCommandDoesNotSeemToHaveEndedBeforeOneThatItMayHaveWaitedFor() throws IOException {
        open(SsgFixture.OPTIONS);
        control.hold(SsgFixture.READ);
        queue.enqueue(read(0));
        queue.enqueue(read(1));
        queue.turn(0);
        assertThat(control.awaitHeld(SsgFixture.READ, 2)).isEqualTo(2);
        control.set("ends_behind_a_look", 1);
        turns(2);
        assertThat(requests.order()).containsExactly(0, 1);
        close();
    }

    @Test
    void commandsThatEndedBeforeOnePollAreReportedInTheOrderOfSubmission() throws IOException {
        open(SsgFixture.OPTIONS);
        control.hold(SsgFixture.READ);
        for (int id = 0; id < 4; id++) {
            queue.enqueue(read(id));
        }
        queue.turn(0);
        assertThat(control.awaitHeld(SsgFixture.READ, 4)).isEqualTo(4);
        control.release(SsgFixture.READ);
        assertThat(control.awaitLive("operations", 0)).isZero();
        turns(4);
        assertThat(requests.order()).containsExactly(0, 1, 2, 3);
        close();
    }

    private long userEvent() {
        int[] error = new int[1];
        long event = OpenCl.clCreateUserEvent(context.handle(), error);
        assertThat(error[0]).isZero();
        return event;
    }

    /** Has a transfer wait on the device, for an event that it gets a reference on. */
    private void await(ClPoint point, DeviceFence fence) {
        OpenCl.clRetainEvent(fence.nativeHandle());
        assertThat(point.await(fence, ssg.waits(), 1, BYTES)).isTrue();
    }

    /** The fence behind a transfer that is one command, as the engine has it. */
    private record Behind(ClPoint point, BooleanSupplier over) implements DeviceFence {

        @Override
        public boolean isSignalled() {
            return over.getAsBoolean();
        }

        @Override
        public Mono<Void> signalled() {
            return Mono.never();
        }

        @Override
        public Mono<Completion> outcome() {
            return Mono.never();
        }

        @Override
        public long nativeHandle() {
            return point.nativeHandle();
        }

        @Override
        public void close() {
            point.free();
        }
    }

    /** The command of the first fails, since what it waits for does, and is submitted once more. */
    @Test
    void aTransferAfterAnotherStaysOrderedIfAFenceOfTheFirstFails() throws IOException {
        open(SsgFixture.OPTIONS);
        DeviceFence fence = new ClFence(userEvent());
        ClPoint first = new ClPoint(context, 0, true);
        await(first, fence);
        queue.enqueue(read(0).joins(first, () -> {}));
        queue.turn(0);
        first.place(() -> {});
        DeviceFence behind = new Behind(first, () -> requests.hasEnded(0));
        ClPoint second = new ClPoint(context, 0, false);
        await(second, behind);
        queue.enqueue(read(1).joins(second, null));
        queue.turn(0);

        control.hold(SsgFixture.READ);
        OpenCl.clSetUserEventStatus(fence.nativeHandle(), -7);
        assertThat(control.awaitLive("operations", 1))
                .as("the first has failed, the second still waits for it")
                .isEqualTo(1);
        for (int i = 0; i < 4; i++) {
            queue.turn(0);
        }
        assertThat(control.awaitHeld(SsgFixture.READ, 1)).isEqualTo(1);
        assertThat(control.calls(SsgFixture.READ))
                .as("only the first was submitted once more")
                .isEqualTo(3);
        control.release(SsgFixture.READ);
        turns(2);
        assertThat(requests.order()).containsExactly(0, 1);
        assertThat(List.of(requests.result(0), requests.result(1))).containsExactly((long) BYTES, (long) BYTES);
        second.free();
        behind.close();
        fence.close();
        close();
    }

    /** The other is not passed yet. */
    @Test
    void aCommandContinuesOnceAllItsFencesAreSignalledEvenIfOneHasFailed() throws IOException {
        open(SsgFixture.OPTIONS);
        control.set("fails_early", 1);
        DeviceFence failing = new ClFence(userEvent());
        DeviceFence late = new ClFence(userEvent());
        ClPoint point = new ClPoint(context, 0, false);
        await(point, failing);
        await(point, late);
        queue.enqueue(read(0).joins(point, null));
        queue.turn(0);
        OpenCl.clSetUserEventStatus(failing.nativeHandle(), -7);
        assertThat(control.awaitLive("operations", 0)).as("it has failed").isZero();
        long start = System.nanoTime();
        for (int i = 0; i < 2 && requests.ended() == 0; i++) {
            queue.turn(SsgFixture.LONG.toNanos());
        }
        assertThat(System.nanoTime() - start)
                .as("a turn that sleeps though nothing will wake it")
                .isLessThan(SsgFixture.LONG.toNanos());
        assertThat(control.calls(SsgFixture.READ)).isEqualTo(1);
        OpenCl.clSetUserEventStatus(late.nativeHandle(), OpenCl.CL_COMPLETE);
        turns(1);
        assertThat(requests.result(0)).isEqualTo(BYTES);
        point.free();
        failing.close();
        late.close();
        close();
    }

    @Test
    void aCommandThatWaitsOnceMoreCanBeCancelled() throws IOException {
        open(SsgFixture.OPTIONS);
        control.set("fails_early", 1);
        DeviceFence failing = new ClFence(userEvent());
        DeviceFence never = new ClFence(userEvent());
        ClPoint point = new ClPoint(context, 0, false);
        await(point, failing);
        await(point, never);
        queue.enqueue(read(0).joins(point, null));
        queue.turn(0);
        OpenCl.clSetUserEventStatus(failing.nativeHandle(), -7);
        assertThat(control.awaitLive("operations", 0)).as("it has failed").isZero();
        queue.turn(0);
        queue.turn(0);
        queue.cancel(requests.of(0));
        queue.turn(0);
        assertThat(requests.order()).containsExactly(0);
        assertThat(requests.failure(0)).map(NativeFailure::kind).contains(NativeFailure.Kind.CANCELLED);
        OpenCl.clSetUserEventStatus(never.nativeHandle(), OpenCl.CL_COMPLETE);
        point.free();
        failing.close();
        never.close();
        close();
    }

    @Test
    void aTurnDoesNotWaitWhenACommandContinuesAfterAFailedFence() throws Exception {
        open(SsgFixture.OPTIONS);
        DeviceFence fence = new ClFence(userEvent());
        ClPoint point = new ClPoint(context, 0, false);
        await(point, fence);

        queue.enqueue(read(0).joins(point, null));
        queue.turn(0);
        OpenCl.clSetUserEventStatus(fence.nativeHandle(), -7);
        assertThat(control.awaitLive("operations", 0))
                .as("the command has failed")
                .isZero();
        while (requests.ended() == 0) {
            queue.turn(-1); // for ever, if it sleeps
        }

        assertThat(requests.result(0)).isEqualTo(BYTES);
        assertThat(control.calls(SsgFixture.READ)).isEqualTo(2);
        point.free();
        fence.close();
        close();
    }
}

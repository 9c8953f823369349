// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.staging.ThreadRule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CancelTest {

    private static final int STAGING = Stage.STAGING;

    private final FakeFile file = new FakeFile(10 * STAGING, 1, 3);
    private final FakeDevice.Memory memory = new FakeDevice.Memory(10 * STAGING);

    private static void assertCancelled(Stage stage, int id) {
        assertThat(stage.requests.hasEnded(id)).isTrue();
        NativeFailure failure = stage.requests.failure(id).orElseThrow();
        assertThat(failure.kind()).isEqualTo(NativeFailure.Kind.CANCELLED);
    }

    /** Two requests keep the staging buffers, since their copies are held; a third is cancelled while it waits. */
    private void cancelTheOneThatWaits(Stage stage) {
        stage.device.held = true;
        for (int id = 0; id < 3; id++) {
            stage.read(id, file, 0, memory, 0, STAGING);
        }
        stage.turn();
        stage.queue.cancel(stage.requests.of(2));
        stage.turn();
        assertCancelled(stage, 2);
    }

    @ParameterizedTest
    @EnumSource
    void commandThatWaitsForAStagingBufferEndsAtOnce(ThreadRule rule) {
        Stage stage = new Stage(rule, 1, 3, 1);
        cancelTheOneThatWaits(stage);
        assertThat(stage.requests.ended()).isEqualTo(1);

        stage.device.held = false;
        assertThat(stage.result(0)).isEqualTo(STAGING);
        assertThat(stage.result(1)).isEqualTo(STAGING);
        stage.close();
    }

    @ParameterizedTest
    @EnumSource
    void commandThatNoWorkerHasTakenReadsNothing(ThreadRule rule) {
        Stage stage = new Stage(rule, 1, 3, 1);
        stage.read(0, file, 0, memory, 0, STAGING);
        stage.turn();
        stage.queue.cancel(stage.requests.of(0));
        stage.turn();
        assertThat(stage.requests.ended())
                .as("the staging worker has its entry")
                .isZero();
        stage.fill();
        stage.turn();
        assertCancelled(stage, 0);
        assertThat(stage.host.calls).isZero();
        stage.close();
    }

    @ParameterizedTest
    @EnumSource
    void copyThatRunsIsWaitedForAndItsStagingBufferKept(ThreadRule rule) {
        Stage stage = new Stage(rule, 1, 3, 1);
        stage.device.held = true;
        stage.read(0, file, 0, memory, 0, STAGING);
        stage.turn();
        stage.work();
        stage.work();
        assertThat(stage.device.running()).isEqualTo(1);
        stage.queue.cancel(stage.requests.of(0));
        for (int i = 0; i < 10; i++) {
            stage.turn();
            stage.work();
        }
        assertThat(stage.requests.ended())
                .as("the device still reads the staging buffer")
                .isZero();
        assertThat(stage.freeBuffers()).isEqualTo(1);

        stage.device.held = false;
        assertThat(stage.result(0)).as("it went through after all").isEqualTo(STAGING);
        stage.close();
    }

    @ParameterizedTest
    @EnumSource
    void cancelledWriteIsNotWrittenAfterItsCopy(ThreadRule rule) {
        Stage stage = new Stage(rule, 1, 3, 1);
        byte[] before = file.bytes.clone();
        stage.device.held = true;
        stage.write(0, memory, 0, file, 0, STAGING);
        stage.turn();
        stage.work();
        stage.queue.cancel(stage.requests.of(0));
        stage.device.held = false;
        stage.result(0);
        assertCancelled(stage, 0);
        assertThat(file.bytes).isEqualTo(before);
        stage.close();
    }

    @Test
    void applicationThatPumpsNoMoreDoesNotKeepCommands() {
        Stage stage = new Stage(ThreadRule.PUMP, 1, 3, 1);
        stage.read(0, file, 0, memory, 0, STAGING);
        stage.write(1, memory, 0, file, 0, STAGING);
        stage.turn();
        stage.fill();
        stage.queue.cancel(stage.requests.of(0));
        stage.queue.cancel(stage.requests.of(1));
        stage.turn();
        assertCancelled(stage, 0);
        assertCancelled(stage, 1);
        assertThat(stage.device.started).isZero();
        stage.close();
    }

    @Test
    void idIsUsedAgainAfterItsCommandWasTakenBack() {
        Stage stage = new Stage(ThreadRule.PUMP, 1, 3, 1);
        for (int round = 0; round < 20; round++) {
            stage.read(0, file, 0, memory, 0, STAGING);
            stage.turn();
            stage.fill();
            stage.queue.cancel(stage.requests.of(0));
            stage.turn();
            assertCancelled(stage, 0);
            stage.requests.forget(0);
        }
        stage.read(0, file, 5, memory, 0, STAGING);
        assertThat(stage.result(0)).isEqualTo(STAGING);
        assertThat(stage.device.started).as("copies").isEqualTo(1);
        stage.close();
    }

    /** Else it would keep the place of the request that it was. */
    @Test
    void aTagThatWaitsForAStagingBufferAgainIsQueuedBehindOthers() {
        Stage stage = new Stage(ThreadRule.MANY, 1, 4, 1);
        cancelTheOneThatWaits(stage);
        stage.read(3, file, 0, memory, 0, STAGING);
        stage.turn();
        stage.read(2, file, 0, memory, 0, STAGING);
        stage.turn();
        stage.device.held = false;
        stage.device.prompt = true;
        stage.requests.order().clear();
        stage.result(2);
        assertThat(stage.requests.order()).containsSubsequence(3, 2);
        stage.close();
    }

    @Test
    void aTagThatWaitsForTheApplicationAgainIsQueuedBehindOthers() {
        Stage stage = new Stage(ThreadRule.PUMP, 1, 4, 1);
        stage.device.prompt = true;
        stage.write(0, memory, 0, file, 0, STAGING);
        stage.turn();
        stage.queue.cancel(stage.requests.of(0));
        stage.turn();
        assertCancelled(stage, 0);
        stage.write(1, memory, 0, file, 0, STAGING);
        stage.turn();
        stage.write(0, memory, 0, file, STAGING, STAGING);
        stage.turn();
        stage.requests.order().clear();
        stage.result(0);
        assertThat(stage.requests.order()).containsExactly(1, 0);
        stage.close();
    }
}

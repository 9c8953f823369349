// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.staging.ThreadRule;
import org.junit.jupiter.api.Test;

/** What failed requests say of their failures, when all have failed before the first is asked. */
class FailureCausesTest {

    private static final int SEGMENTS = 300;

    private static String cause(Stage stage, int id) {
        return stage.requests.failure(id).orElseThrow().error().symbol();
    }

    @Test
    void required_401_eachOfManyFailuresOfHostIoKeepsItsOwnCause() {
        Stage stage = new Stage(ThreadRule.MANY, 1, SEGMENTS, 1);
        FakeFile file = new FakeFile(SEGMENTS * 16, 1, 1);
        FakeDevice.Memory memory = new FakeDevice.Memory(SEGMENTS * 16);
        stage.host.throwsAtRead = true;
        for (int id = 0; id < SEGMENTS; id++) {
            stage.read(id, file, id * 16L, memory, id * 16L, 16);
        }
        stage.result(SEGMENTS - 1);
        assertThat(stage.requests.ended()).isEqualTo(SEGMENTS);
        for (int id = 0; id < SEGMENTS; id++) {
            assertThat(cause(stage, id)).isEqualTo("java.io.IOException: read at " + id * 16);
        }
        stage.close();
    }

    @Test
    void aDeviceThatThrewIsLostForSegmentsThatNeverReachedItToo() {
        Stage stage = new Stage(ThreadRule.MANY, 1, 4, 1);
        FakeFile file = new FakeFile(4096, 1, 1);
        FakeDevice.Memory memory = new FakeDevice.Memory(4096);
        stage.device.throwsAtPoll = true;
        stage.read(0, file, 0, memory, 0, 16);
        stage.result(0);
        stage.read(1, file, 16, memory, 16, 16);
        stage.result(1);
        stage.host.throwsAtRead = true; // what the tag's next request fails with is not what the device threw
        stage.read(0, file, 0, memory, 0, 16);
        stage.result(0);
        for (int id = 0; id < 2; id++) {
            NativeFailure failure = stage.requests.failure(id).orElseThrow();
            assertThat(failure.kind()).isEqualTo(NativeFailure.Kind.LOST);
            assertThat(failure.error().symbol()).isEqualTo("java.lang.UnsupportedOperationException: poll");
        }
    }
}

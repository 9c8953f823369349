// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.ssg;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.NativeError;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.NativeFailure;
import java.io.IOException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SsgResultsTest {

    private static final SsgCommand<?>[] COMMANDS = IntStream.range(0, 300)
            .<SsgCommand<?>>mapToObj(id -> new SsgCommand<SsgFile>(id) {})
            .toArray(SsgCommand<?>[]::new);

    private static NativeFailure failure(long result) {
        return SsgResults.failure(
                Command.Kind.READ,
                result,
                COMMANDS,
                answer -> new NativeFailure(new NativeError("driver", answer, "NO"), NativeFailure.Kind.TRANSIENT));
    }

    @Test
    void theDriversAnswersAreTheDriversToExplain() {
        NativeFailure failure = failure(-16516);
        assertThat(failure.error()).isEqualTo(new NativeError("driver", -16516, "NO"));
        assertThat(failure.kind()).isEqualTo(NativeFailure.Kind.TRANSIENT);
    }

    @Test
    void whatWasTakenBackIsCancelled() {
        assertThat(failure(SsgResults.CANCELLED).kind()).isEqualTo(NativeFailure.Kind.CANCELLED);
    }

    @Test
    void aRefusalTellsTheDriversAnswerAgain() {
        NativeError answer = new NativeError("open", 7, "SEVEN");
        NativeFailure failure = failure(COMMANDS[7].failed(new SsgRefusal("a file", answer)));
        assertThat(failure.error()).isEqualTo(answer);
        assertThat(failure.kind()).isEqualTo(NativeFailure.Kind.PERMANENT);
    }

    @Test
    void aRefusalWithoutAnAnswerTellsItsReason() {
        NativeFailure failure = failure(COMMANDS[7].failed(new SsgRefusal("another file")));
        assertThat(failure.error().toString()).contains("another file");
    }

    @Test
    void exceptionsAndFailuresOfHostIoAreNotTakenForTheDriversAnswers() {
        assertThat(failure(COMMANDS[7].failed(new IOException("gone"))).error().call())
                .isNotEqualTo("driver");
        assertThat(failure(COMMANDS[7].failed(new IllegalStateException("shut")))
                        .error()
                        .toString())
                .contains("shut");
        assertThat(failure(SsgResults.ofHost(-5)).error().call()).isNotEqualTo("driver");
        assertThat(SsgResults.ofHost(5)).isEqualTo(5);
    }

    @Test
    void required_401_eachOfManyFailuresKeepsItsOwnCause() {
        for (SsgCommand<?> command : COMMANDS) {
            command.result(command.failed(new SsgRefusal("refusal " + command.id())));
        }
        for (SsgCommand<?> command : COMMANDS) {
            assertThat(failure(command.result()).error().symbol())
                    .isEqualTo("io.penstock.engine.ssg.SsgRefusal: refusal " + command.id());
        }
    }

    @Test
    void exceptionsOfHostIoHaveTheNumbersThatTheyName() {
        assertThat(failure(COMMANDS[3].failed(new IOException("No space left on device")))
                        .error())
                .isEqualTo(new NativeError("pread", 28, "ENOSPC"));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.ssg;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.NativeError;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.NativeFailure;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class SsgResultsTest {

    private static NativeFailure failure(long result) {
        return SsgResults.failure(
                Command.Kind.READ,
                result,
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
        NativeFailure failure = failure(SsgResults.ofHost(new SsgRefusal("a file", answer)));
        assertThat(failure.error()).isEqualTo(answer);
        assertThat(failure.kind()).isEqualTo(NativeFailure.Kind.PERMANENT);
    }

    @Test
    void aRefusalWithoutAnAnswerTellsItsReason() {
        NativeFailure failure = failure(SsgResults.ofHost(new SsgRefusal("another file")));
        assertThat(failure.error().toString()).contains("another file");
    }

    @Test
    void exceptionsAndFailuresOfHostIoAreNotTakenForTheDriversAnswers() {
        assertThat(failure(SsgResults.ofHost(new IOException("gone"))).error().call())
                .isNotEqualTo("driver");
        assertThat(failure(SsgResults.ofHost(new IllegalStateException("shut")))
                        .error()
                        .toString())
                .contains("shut");
        assertThat(failure(SsgResults.ofHost(-5)).error().call()).isNotEqualTo("driver");
        assertThat(SsgResults.ofHost(5)).isEqualTo(5);
    }
}

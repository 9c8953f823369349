// SPDX-License-Identifier: Apache-2.0
package io.penstock.spring.boot;

import io.penstock.BackendUnavailableException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** What Boot reports in place of a stack trace if a backend cannot be used. */
final class BackendFailureAnalyzer extends AbstractFailureAnalyzer<BackendUnavailableException> {

    @Override
    protected FailureAnalysis analyze(Throwable root, BackendUnavailableException cause) {
        return new FailureAnalysis(
                cause.getMessage(),
                "Set penstock.backend to one of the backends that are available, or add the artifact of another one, such as"
                        + " io.penstock:penstock-backend-cufile.",
                cause);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Explanation;
import io.penstock.FileOption;
import io.penstock.Transfer;
import java.nio.file.Path;
import reactor.core.publisher.Mono;

/**
 * Prints which path a read would take, why not a more direct one, and what would help. Reads nothing. (With
 * {@code requireDirect()} a transfer fails before any byte is moved if its path is not DIRECT.)
 */
public final class ExplainRead {

    private ExplainRead() {}

    public static void main(String[] arguments) {
        try (Backend backend = Backends.open()) {
            System.out.println(explain(backend, Path.of(arguments[0])).block());
        }
    }

    static Mono<String> explain(Backend backend, Path path) {
        return backend.withFile(
                path,
                FileOption.READ,
                file -> backend.withBuffer(
                        file.size(),
                        buffer -> Mono.fromSupplier(
                                () -> describe(backend.explain(Transfer.read(file.all(), buffer.all()))))));
    }

    private static String describe(Explanation plan) {
        String remedy = plan.remedy().isEmpty() ? "" : "; remedy: " + plan.remedy();
        return "path " + plan.path() + " in " + plan.segments() + " segments; " + plan.whyNotDirect() + remedy;
    }
}

// SPDX-License-Identifier: Apache-2.0
/** The rules of Penstock as tests: implement {@code BackendRules} to test a backend against them. */
module io.penstock.tck {
    requires transitive io.penstock.api;
    requires transitive org.junit.jupiter.api;
    requires transitive org.junit.platform.launcher;
    requires org.assertj.core;
    requires reactor.test;

    exports io.penstock.tck;

    uses io.penstock.tck.GateProvider;

    provides org.junit.platform.launcher.TestExecutionListener with
            io.penstock.tck.SkipReport;
}

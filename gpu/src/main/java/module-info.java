// SPDX-License-Identifier: Apache-2.0
/**
 * What the backends of GPU vendors share: paths between files and a GPU's memory, behind a table of the vendor's driver
 * API and one of its file API. For our backends: it changes with them.
 */
@SuppressWarnings("module") // our backends are compiled after it
module io.penstock.backend.gpu {
    requires transitive io.penstock.api;
    requires transitive io.penstock.engine;
    requires org.slf4j;

    exports io.penstock.backend.gpu.api to
            io.penstock.backend.cufile,
            io.penstock.backend.hip;
    exports io.penstock.backend.gpu.context to
            io.penstock.backend.cufile,
            io.penstock.backend.hip;
    exports io.penstock.backend.gpu.device to
            io.penstock.backend.cufile,
            io.penstock.backend.hip;
    exports io.penstock.backend.gpu.file to
            io.penstock.backend.cufile,
            io.penstock.backend.hip;
    exports io.penstock.backend.gpu.mapped to
            io.penstock.backend.cufile,
            io.penstock.backend.hip;
    exports io.penstock.backend.gpu.paths to
            io.penstock.backend.cufile,
            io.penstock.backend.hip;
    exports io.penstock.backend.gpu.staged to
            io.penstock.backend.cufile,
            io.penstock.backend.hip;
}

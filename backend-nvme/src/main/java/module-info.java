// SPDX-License-Identifier: Apache-2.0
/** NVMe controllers driven from user space. */
module io.penstock.backend.nvme {
    requires transitive io.penstock.api;
    requires io.penstock.engine;
    requires org.slf4j;

    exports io.penstock.backend.nvme;

    provides io.penstock.spi.BackendProvider with
            io.penstock.backend.nvme.path.NvmeProvider;
}

// SPDX-License-Identifier: Apache-2.0
/** Files and buffers of other processes and hosts, by UCX. */
module io.penstock.remote.ucx {
    requires transitive io.penstock.api;
    requires io.penstock.engine;
    requires com.sun.jna;
    requires jdk.net;
    requires org.slf4j;

    exports io.penstock.remote.ucx;

    // JNA finds their native methods by reflection.
    opens io.penstock.remote.ucx.ffi to
            com.sun.jna;

    provides io.penstock.engine.kit.remote.RemoteProvider with
            io.penstock.remote.ucx.UcxProvider;
}

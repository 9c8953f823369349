// SPDX-License-Identifier: Apache-2.0
/** Arrays in files, and their way into device memory; of the backends it sees only the API. */
module io.penstock.formats {
    requires transitive io.penstock.api;
    requires com.fasterxml.jackson.core;
    requires static com.github.luben.zstd_jni;
    requires static org.apache.arrow.format;
    requires static org.apache.commons.compress;
    requires static org.tukaani.xz;
    requires static transitive org.jspecify;
    requires org.slf4j;

    exports io.penstock.formats;
}

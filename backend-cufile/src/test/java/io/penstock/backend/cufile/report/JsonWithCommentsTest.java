// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonWithCommentsTest {

    @Test
    void theFormatOfNvidiasFileIsParsed() {
        String text = """
                {
                    // NOTE : Application can override custom configuration via export CUFILE_ENV_PATH_JSON=<filepath>
                    "logging": {
                        // log directory, if not enabled will create log file under current working directory
                        //"dir": "/home/<xxxx>",
                        "level": "ERROR"
                    },
                    "properties": {
                        // max IO size issued by cuFile to nvidia-fs driver (in KB)
                        "max_direct_io_size_kb" : 16384,
                        "allow_compat_mode": true, /* both kinds */
                        "posix_pool_slab_size_kb" : [ 4, 1024, 16384],
                        "rdma_dev_addr_list": [],
                        "url": "http://x//y",
                    },
                    "fs": {
                        "generic": { "posix_unaligned_writes": false },
                        "lustre": { "mount_table" : [ { "/lustre/ai200_01/client" : {
                              "posix_gds_min_kb" : 0 } } ] }
                    }
                }
                """;
        assertThat(JsonWithComments.read(text))
                .isEqualTo(Map.of(
                        "logging.level",
                        "ERROR",
                        "properties.max_direct_io_size_kb",
                        "16384",
                        "properties.allow_compat_mode",
                        "true",
                        "properties.posix_pool_slab_size_kb",
                        "[4, 1024, 16384]",
                        "properties.rdma_dev_addr_list",
                        "[]",
                        "properties.url",
                        "http://x//y",
                        "fs.generic.posix_unaligned_writes",
                        "false",
                        "fs.lustre.mount_table",
                        "[{ \"/lustre/ai200_01/client\" : { \"posix_gds_min_kb\" : 0 } }]"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "{", "{\"a\"}", "{\"a\": }", "{\"a\": 1 \"b\": 2}", "{\"a\": [1", "{\"a\": \"b", "{} x"})
    void malformedJsonIsRefusedWithItsLine(String text) {
        assertThatThrownBy(() -> JsonWithComments.read(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("line 1: ");
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import org.apache.spark.sql.connector.read.streaming.Offset;

/** How many entries of a {@link FileLog} have been read. */
final class BatchOffset extends Offset {

    private final int entries;

    BatchOffset(int entries) {
        this.entries = entries;
    }

    static BatchOffset parse(String json) {
        return new BatchOffset(Integer.parseInt(json.strip()));
    }

    int entries() {
        return entries;
    }

    @Override
    public String json() {
        return Integer.toString(entries);
    }
}

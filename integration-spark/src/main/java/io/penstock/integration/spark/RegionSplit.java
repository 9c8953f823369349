// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;

/**
 * The regions of one task. Files are mounted everywhere, so that no executor is nearer to them than another.
 *
 * @param regions the regions, in the order of their files
 */
record RegionSplit(List<Region> regions) implements InputPartition {

    private static final int MOST_REGIONS = 10_000;

    RegionSplit {
        regions = List.copyOf(regions);
    }

    /** Packs regions, in their order, into splits of at most {@code bytes} bytes, or of one larger region. */
    static List<RegionSplit> pack(List<Region> regions, long bytes) {
        List<RegionSplit> splits = new ArrayList<>();
        int first = 0;
        long sum = 0;
        for (int i = 0; i < regions.size(); i++) {
            long length = regions.get(i).length();
            if (i > first && (length > bytes - sum || i - first == MOST_REGIONS)) {
                splits.add(new RegionSplit(regions.subList(first, i)));
                first = i;
                sum = 0;
            }
            sum += length;
        }
        if (first < regions.size()) {
            splits.add(new RegionSplit(regions.subList(first, regions.size())));
        }
        return splits;
    }
}

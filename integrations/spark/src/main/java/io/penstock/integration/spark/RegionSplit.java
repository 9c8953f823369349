// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.sql.connector.read.InputPartition;

/**
 * The regions of one task. Files are mounted everywhere, so that no executor is nearer to them than another.
 *
 * @param regions the regions, in the order of their files
 * @param times when the files were modified last
 */
record RegionSplit(List<Region> regions, FileTimes times) implements InputPartition {

    private static final int MOST_REGIONS = 10_000;

    RegionSplit {
        regions = List.copyOf(regions);
    }

    /**
     * What a query reads.
     *
     * @param regions the regions, in the order of their files
     * @param times when the files were modified last, before the regions were found in them
     */
    record Found(List<Region> regions, FileTimes times) {

        private RegionSplit split(int first, int end) {
            List<Region> some = regions.subList(first, end);
            return new RegionSplit(
                    some, times.only(some.stream().map(Region::path).collect(Collectors.toSet())));
        }
    }

    /**
     * Packs regions, in their order, into splits of at most {@code bytes} bytes, or of one larger region. The first
     * region of a file counts as at least {@code openBytes}.
     */
    static List<RegionSplit> pack(Found found, long bytes, long openBytes) {
        List<Region> regions = found.regions();
        List<RegionSplit> splits = new ArrayList<>();
        int first = 0;
        long sum = 0;
        for (int i = 0; i < regions.size(); i++) {
            Region region = regions.get(i);
            boolean opens =
                    i == first || !region.path().equals(regions.get(i - 1).path());
            long length = opens ? Math.max(region.length(), openBytes) : region.length();
            if (i > first && (length > bytes - sum || i - first == MOST_REGIONS)) {
                splits.add(found.split(first, i));
                first = i;
                sum = 0;
            }
            sum += length;
        }
        if (first < regions.size()) {
            splits.add(found.split(first, regions.size()));
        }
        return splits;
    }
}

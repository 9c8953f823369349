// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.spark.sql.DataFrameReader;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the source reads, on executors of their own. */
@Tag("once")
@ExtendWith(Cluster.class)
class SourceTest {

    @TempDir
    Path folder;

    private static DataFrameReader reader() {
        return SparkSession.active().read().format("penstock");
    }

    private Dataset<Row> load(String... options) {
        DataFrameReader reader = reader();
        for (int i = 0; i < options.length; i += 2) {
            reader = reader.option(options[i], options[i + 1]);
        }
        return reader.load(folder.toString());
    }

    private Map<String, byte[]> model() throws IOException {
        Map<String, byte[]> arrays = new LinkedHashMap<>();
        arrays.put("embed", Samples.bytes(1, 5000));
        arrays.put("layer.0", Samples.bytes(2, 3_000_000));
        arrays.put("layer.1", Samples.bytes(3, 70_001));
        arrays.put("none", new byte[0]);
        Samples.safetensors(folder.resolve("model.safetensors"), arrays);
        return arrays;
    }

    private static SparkPlan plan(Dataset<Row> rows) {
        return rows.queryExecution().executedPlan();
    }

    private static RegionScan scan(Dataset<Row> rows) {
        LogicalPlan leaf = rows.queryExecution().optimizedPlan().collectLeaves().head();
        return (RegionScan) ((DataSourceV2ScanRelation) leaf).scan();
    }

    /** Returns the bytes that the scan of a query has read, as Spark counted them. */
    private static long bytesRead(Dataset<Row> rows) {
        SparkPlan plan = plan(rows);
        while (!plan.children().isEmpty()) {
            plan = plan.children().head();
        }
        return plan.metrics().apply("penstockBytesHost").value();
    }

    @Test
    void anArrayIsARowWithItsBytes() throws IOException {
        Map<String, byte[]> arrays = model();
        List<Row> rows = load().collectAsList();
        assertThat(rows).extracting(row -> row.<String>getAs("name")).containsExactlyElementsOf(arrays.keySet());
        for (Row row : rows) {
            String name = row.getAs("name");
            long length = arrays.get(name).length;
            assertThat(row.<byte[]>getAs("bytes")).as(name).isEqualTo(arrays.get(name));
            assertThat(row.<Long>getAs("length")).isEqualTo(length);
            assertThat(row.<String>getAs("dtype")).isEqualTo("U8");
            assertThat(row.getList(row.fieldIndex("shape"))).isEqualTo(List.of(length));
            assertThat(row.<String>getAs("path")).endsWith("model.safetensors");
        }
    }

    @Test
    void bytesThatAreNotSelectedAreNotRead() throws IOException {
        model();
        Dataset<Row> names = load().select("name", "length");
        assertThat(names.collectAsList()).hasSize(4);
        assertThat(bytesRead(names)).isZero();
        Dataset<Row> all = load().select("name", "bytes");
        assertThat(all.collectAsList()).hasSize(4);
        assertThat(bytesRead(all)).isEqualTo(3_075_001);
    }

    @Test
    void aRegionThatAFilterExcludesIsNotRead() throws IOException {
        Map<String, byte[]> arrays = model();
        Dataset<Row> one =
                load().where("name like 'layer.%' and length < 100000").select("bytes");
        assertThat(plan(one).toString()).doesNotContain("Filter ");
        assertThat(one.collectAsList().get(0).<byte[]>getAs("bytes")).isEqualTo(arrays.get("layer.1"));
        assertThat(bytesRead(one)).isEqualTo(70_001);
    }

    /**
     * Spark evaluates the filters over a local relation, and the scan evaluates filters that were pushed down: neither
     * needs a job.
     */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "dtype = 'U8'",
                "not (dtype = 'U8')",
                "dtype is null",
                "dtype is not null or length = 100",
                "not (dtype <=> 'U8')",
                "dtype != 'F32' or length > 50",
                "name in ('embed', 'x.bin')",
                "not (name in ('embed'))",
                "not (dtype in ('U8', 'F32'))",
                "offset >= 5000 and offset < 100000",
                "name > 'f'",
                "name like '%.1'",
                "name like '%.%'",
                "not (dtype = 'U8' and length = 100)",
                "length between 100 and 5000",
                "byteOrder = 'LITTLE_ENDIAN' and name <= 'none'"
            })
    void aPushedFilterMeansWhatItMeansInSpark(String filter) {
        List<Region> regions = new ArrayList<>();
        Region.Elements elements = new Region.Elements("U8", List.of(5L), "LITTLE_ENDIAN", "ROW_MAJOR");
        for (String name : List.of("embed", "layer.0", "layer.1", "none")) {
            regions.add(
                    new Region("/m", name, elements, 5000L * regions.size(), 40L * regions.size() * regions.size()));
        }
        regions.add(new Region("/x", "x.bin", null, 0, 100));
        List<Row> rows = regions.stream()
                .map(region -> RowFactory.create(Arrays.stream(Column.of(Column.schema(false)))
                        .map(column -> column.value(region))
                        .toArray()))
                .toList();
        Dataset<Row> known = SparkSession.active().createDataFrame(rows, Column.schema(false));
        RegionScan scan = scan(load("raw", "true").where(filter));
        assertThat(regions.stream().filter(scan::passes).map(Region::name))
                .containsExactlyElementsOf(
                        known.where(filter).select("name").as(Encoders.STRING()).collectAsList());
    }

    @ParameterizedTest
    @ValueSource(strings = {"name rlike 'l.y'", "length % 2 = 0", "size(shape) = 1"})
    void sparkEvaluatesWhatCannotBePushed(String filter) throws IOException {
        model();
        Dataset<Row> rows = load().where(filter).select("name");
        assertThat(plan(rows).toString()).contains("Filter ");
    }

    @Test
    void aRawFileIsCutIntoRegions() throws IOException {
        byte[] bytes = Samples.bytes(4, 250_000);
        Files.write(folder.resolve("x.bin"), bytes);
        List<Row> rows =
                load("raw", "true", "regionBytes", "100k").orderBy("offset").collectAsList();
        assertThat(rows).extracting(row -> row.<Long>getAs("length")).containsExactly(102_400L, 102_400L, 45_200L);
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        rows.forEach(row -> joined.writeBytes(row.<byte[]>getAs("bytes")));
        assertThat(joined.toByteArray()).isEqualTo(bytes);
    }

    @Test
    void aPartitionHasAtMostTheBytesOfASplitOrOneRow() throws IOException {
        model();
        Dataset<Row> split = load("splitBytes", "80000");
        assertThat(split.javaRDD().getNumPartitions()).isEqualTo(3);
        assertThat(split.select("bytes").collectAsList()).hasSize(4);
    }

    @Test
    void anArrayInChunksIsOneRow() throws IOException {
        Samples.zarr(folder.resolve("scan.zarr"));
        Row row = load().collectAsList().get(0);
        assertThat(row.<byte[]>getAs("bytes")).containsExactly(1, 2, 3, 4, 5, 6, 7, 8);
        assertThat(row.<Long>getAs("offset")).isNull();
        assertThat(row.<Long>getAs("length")).isEqualTo(8);
    }

    @Test
    void anArrayOfMoreThanARowHoldsIsCutOrRefusedWithTheRemedy() throws IOException {
        long length = (3L << 30) + 5;
        Samples.sparse(folder.resolve("huge.safetensors"), "huge", length);
        assertThat(load().select("name", "length").collectAsList().get(0).<Long>getAs("length"))
                .isEqualTo(length);
        assertThatThrownBy(() -> load().select("bytes").collectAsList())
                .hasStackTraceContaining("column bytes must have at most 2146435071 bytes in a row, had " + length)
                .hasStackTraceContaining("the option regionBytes cuts it into several rows");
        List<Row> last = load("regionBytes", "64m")
                .where("offset > " + (3L << 30))
                .select("length", "bytes")
                .collectAsList();
        assertThat(last).singleElement().satisfies(row -> {
            assertThat(row.getLong(0)).isEqualTo(5);
            assertThat(row.<byte[]>getAs("bytes")).containsExactly(0, 0, 0, 0, 7);
        });
    }

    @Test
    void aFileThatBecameShorterFailsTheQuery() throws IOException {
        Files.write(folder.resolve("x.bin"), new byte[100_000]);
        Dataset<Row> rows = load("raw", "true");
        assertThat(plan(rows).executeCollectPublic()).isNotNull();
        Files.write(folder.resolve("x.bin"), new byte[50_000]);
        assertThatThrownBy(() -> plan(rows).executeCollectPublic())
                .hasStackTraceContaining("the file became shorter than when the query was planned");
    }

    /** The bytes would belong to another array than the row's. */
    @ParameterizedTest
    @ValueSource(strings = {"true", "false"})
    void aFileThatWasReplacedFailsTheQuery(String raw) throws IOException {
        model();
        Dataset<Row> rows = load("raw", raw);
        assertThat(plan(rows).executeCollectPublic()).isNotNull();
        Path file = folder.resolve("model.safetensors");
        Path other = Files.write(folder.resolve("_other"), new byte[(int) Files.size(file) + 1]);
        Files.setLastModifiedTime(other, FileTime.fromMillis(1_000_000_000_000L));
        Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
        assertThatThrownBy(() -> plan(rows).executeCollectPublic())
                .hasStackTraceContaining("the file was changed since the query was planned, load it again: " + file);
        assertThat(load("raw", "true").collectAsList()).hasSize(1);
    }

    /** Returns what a task reads of small files; the first row is read before {@code meanwhile}. */
    private List<byte[]> contents(List<Path> files, List<Region> regions, Callable<?> meanwhile) throws Exception {
        RegionSplit split = new RegionSplit(regions, FileTimes.of(files));
        List<byte[]> contents = new ArrayList<>();
        try (RegionReader reader = new RegionReader(split, new Column[] {Column.BYTES})) {
            while (reader.next()) {
                contents.add(reader.get().getBinary(0));
                if (contents.size() == 1) {
                    meanwhile.call();
                }
            }
        }
        return contents;
    }

    private static List<Region> regions(List<Path> files) throws IOException {
        List<Region> regions = new ArrayList<>();
        for (Path file : files) {
            regions.add(new Region(file.toString(), String.valueOf(file.getFileName()), null, 0, Files.size(file)));
        }
        return regions;
    }

    private List<Path> smallFiles() throws IOException {
        List<Path> files = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            files.add(Files.write(folder.resolve("small-" + i), Samples.bytes(i, 1000 * i)));
        }
        return files;
    }

    @Test
    void smallFilesAreReadTogether() throws Exception {
        List<Path> files = smallFiles();
        List<byte[]> contents = contents(files, regions(files), () -> {
            Files.delete(files.get(29)); // which had been read with the first
            return null;
        });
        assertThat(contents).hasSize(30);
        for (int i = 0; i < 30; i++) {
            assertThat(contents.get(i)).isEqualTo(Samples.bytes(i, 1000 * i));
        }
    }

    @Test
    void oneOfManySmallFilesThatIsNotAsItWasFailsByItsName() throws Exception {
        List<Path> files = smallFiles();
        List<Region> regions = regions(files);
        Files.delete(files.get(7));
        assertThatThrownBy(() -> contents(files, regions, () -> null))
                .isInstanceOf(NoSuchFileException.class)
                .hasMessageContaining("small-7");
        Files.write(files.get(7), new byte[6999]);
        assertThatThrownBy(() -> contents(files, regions, () -> null))
                .isInstanceOf(EOFException.class)
                .hasMessageContaining("the file became shorter than when the query was planned")
                .hasMessageContaining("small-7");
    }

    @Test
    void smallFilesAreSpreadOverPartitions() throws IOException {
        for (int i = 0; i < 100; i++) {
            Files.write(folder.resolve(i + ".bin"), new byte[10]);
        }
        // 128 MiB by 4 MiB
        assertThat(load("raw", "true").javaRDD().getNumPartitions()).isEqualTo(4);
        assertThat(load("raw", "true", "splitBytes", "1000").javaRDD().getNumPartitions())
                .isEqualTo(1);
    }

    /**
     * Spark allocates twice the bytes of a row once for each partition, and opening a local file costs next to nothing.
     */
    @Test
    void largeFilesFillPartitions() throws IOException {
        for (int i = 0; i < 4; i++) {
            Samples.sparse(folder.resolve(i + ".bin"), "array", (64 << 20) - 4096);
        }
        assertThat(load("raw", "true").javaRDD().getNumPartitions()).isEqualTo(2);
    }

    @Test
    void whatCannotBeReadIsRefusedWhileItIsPlanned() throws IOException {
        assertThatThrownBy(() -> reader().load("hdfs://host/x").collectAsList())
                .hasStackTraceContaining("must be in a file system that is mounted")
                .hasStackTraceContaining("was hdfs://host/x");
        assertThatThrownBy(
                        () -> reader().load(folder.resolve("absent").toString()).collectAsList())
                .hasRootCauseInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> reader().option("regionBytes", "0")
                        .load(folder.toString())
                        .collectAsList())
                .hasStackTraceContaining("regionBytes must be at least 1 byte, was 0");
        Files.writeString(folder.resolve("README"), "text");
        assertThatThrownBy(() -> load().collectAsList())
                .hasStackTraceContaining("pathGlobFilter selects files by name, and raw=true reads README as bytes");
    }

    @Test
    void hiddenFilesAndSubdirectoriesAreLeftOut() throws IOException {
        Files.write(folder.resolve("a.bin"), new byte[1]);
        Files.write(folder.resolve("_b.bin"), new byte[1]);
        Files.write(folder.resolve(".c.bin"), new byte[1]);
        Files.write(Files.createDirectory(folder.resolve("sub")).resolve("d.bin"), new byte[1]);
        assertThat(load("raw", "true").select("name").collectAsList())
                .extracting(row -> row.getString(0))
                .containsExactly("a.bin");
        assertThat(load("raw", "true", "recursiveFileLookup", "true")
                        .select("name")
                        .collectAsList())
                .extracting(row -> row.getString(0))
                .containsExactlyInAnyOrder("a.bin", "d.bin");
    }
}

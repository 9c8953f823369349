// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a table of rows stands for. */
class TableTest {

    private final List<String> opened = new ArrayList<>();

    /** Has three disks and nothing else, and keeps the orders. */
    private final class Known implements Bench {
        @Override
        public Map<String, String> values() {
            return Map.of("disks", "3", "dir", "/tmp/a$b");
        }

        @Override
        public boolean holds(String condition) {
            return condition.equals("disk");
        }

        @Override
        public Contender open(Order order) {
            opened.add(order.text());
            return nanos -> new Measure(1, 1, 1);
        }

        @Override
        public Row row(String name, Order order) {
            opened.add(name + " by " + order.verb());
            return new Rounds(name, Unit.BYTES, Map.of(), List.of(), true);
        }
    }

    private List<Row> rows(String table) {
        return Table.rows(table, new Known(), "a test");
    }

    private Rounds only(String table) {
        return (Rounds) rows(table).get(0);
    }

    private void open(Rounds rounds) throws Exception {
        for (Rounds.Factory factory : rounds.contenders().values()) {
            factory.open();
        }
    }

    @Test
    void aRowHasContendersAndComparisons() throws Exception {
        Rounds row = only("""
                # why
                row reads | BYTES by-name | block=4K
                ours | read direct
                peer | pread file=$dir
                > ~: ours / peer | ours | peer | SPEED 0.95
                > a cost | ours | peer | COST 1.1/$disks default options
                """);
        assertThat(row.name()).isEqualTo("reads");
        assertThat(row.unit()).isEqualTo(Unit.BYTES);
        assertThat(row.isOnlyByName()).isTrue();
        assertThat(row.contenders()).containsOnlyKeys("ours", "peer");
        assertThat(row.comparisons())
                .containsExactly(
                        new Comparison("reads: ours / peer", "default", "ours", "peer", Comparison.Kind.SPEED, 0.95),
                        new Comparison("a cost", "default options", "ours", "peer", Comparison.Kind.COST, 1.1 / 3));
        open(row);
        assertThat(opened).containsExactly("read direct block=4096", "pread file=/tmp/a$b block=4096");
    }

    @Test
    void bracesAreEachOfTheirChoices() throws Exception {
        List<Row> rows = rows("""
                row {way=read;write} of {size=4 KiB;1 MiB} | OPERATIONS
                {way}, {n=1;2} threads, {fast;slow} | {way} block={size} threads={n}*$disks {fast;slow}
                """);
        assertThat(rows)
                .extracting(Row::name)
                .containsExactly("read of 4 KiB", "read of 1 MiB", "write of 4 KiB", "write of 1 MiB");
        Rounds last = (Rounds) rows.get(3);
        assertThat(last.contenders().keySet())
                .containsExactly(
                        "write, 1 threads, fast",
                        "write, 1 threads, slow",
                        "write, 2 threads, fast",
                        "write, 2 threads, slow");
        open(last);
        assertThat(opened.get(3)).isEqualTo("write block=1048576 threads=2*3 slow");
    }

    @Test
    void productsOfTheBenchAreComputedBeforeChoices() {
        Rounds row = only("row a | BYTES\n{n=$disks*8;$disks*12} threads | loop threads={n}\n");
        assertThat(row.contenders().keySet()).containsExactly("24 threads", "36 threads");
        assertThat(only("row a | BYTES\n> a | a | a | SPEED 0.95*$disks").comparisons())
                .extracting(Comparison::goal)
                .containsExactly(0.95 * 3);
    }

    @Test
    void severalRowsMayHaveOneBody() {
        List<Row> rows = rows("row a | BYTES\nrow b | BYTES\nours | read\n\n\nrow c | own | slow\n");
        assertThat(rows).extracting(Row::name).containsExactly("a", "b", "c");
        assertThat(((Rounds) rows.get(1)).contenders()).containsOnlyKeys("ours");
        assertThat(opened).containsExactly("c by slow");
    }

    @Test
    void whatTheMachineLacksIsLeftOut() {
        List<Row> rows = rows("""
                [gpu] row a | BYTES
                ours | read

                [disk] row b | BYTES
                [disk] ours | read
                [disk gpu] peer | pread
                """);
        assertThat(rows).extracting(Row::name).containsExactly("b");
        assertThat(((Rounds) rows.get(0)).contenders()).containsOnlyKeys("ours");
    }

    @Test
    void contendersThatAreAloneRunOneAfterAnother() throws Exception {
        Row row = rows("row a | BYTES by-name alone\n{8;16} workers | read workers={8;16}\n")
                .get(0);
        assertThat(row.isOnlyByName()).isTrue();
        Settings settings = Settings.parse(new String[] {"host", "--pairs", "2", "--seconds", "0.001"});
        assertThat(row.run(settings, false).figures())
                .extracting(Figure::contender)
                .containsExactly("8 workers", "16 workers");
    }

    @Test
    void aBlockThatIsNoRowIsNamed() {
        assertThatThrownBy(() -> rows("row a | BYTES\nours | read\n\nrow b | BITS\n"))
                .hasMessageStartingWith("rows of a test: ")
                .hasMessageEndingWith("row b | BITS\n");
    }
}

// SPDX-License-Identifier: Apache-2.0
/** A directory of Lucene whose vectors are read, and merged, past the page cache. */
module io.penstock.lucene {
    requires transitive io.penstock.api;
    requires transitive org.apache.lucene.core;
    requires static transitive micrometer.core; // of LuceneMeters alone
    requires org.slf4j;

    exports io.penstock.lucene;

    provides io.penstock.spi.OptionProvider with
            io.penstock.lucene.LuceneOptions;
}

// SPDX-License-Identifier: Apache-2.0
/**
 * Lucene over Penstock: {@link io.penstock.lucene.PenstockDirectory} reads and writes vectors past the page cache while
 * a merge has them, and reads the candidates of a query in one batch. Requires Java 21 and Lucene 10.5.
 */
@NullMarked
package io.penstock.lucene;

import org.jspecify.annotations.NullMarked;

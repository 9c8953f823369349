// SPDX-License-Identifier: Apache-2.0
/** How bytes come from files into their places: by transfers, or assembled from chunks in memory of the host. */
@NullMarked
package io.penstock.formats.load;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
/**
 * A data source for Apache Spark: regions and arrays of files as rows, and as leased chunks of each executor's device
 * memory. Files lie in a file system that the driver and all executors have mounted. Depends on the API and the
 * formats only: works with every backend.
 */
@NullMarked
package io.penstock.integration.spark;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
/**
 * The machine as its kernel describes it in files: PCI devices, the IOMMU, and what stands between devices. Only files
 * are read, at each question, below a root that tests choose.
 */
@NullMarked
package io.penstock.engine.kit.machine;

import org.jspecify.annotations.NullMarked;

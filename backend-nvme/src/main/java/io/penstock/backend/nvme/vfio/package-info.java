// SPDX-License-Identifier: Apache-2.0
/** NVMe controllers that the kernel lends to this process: VFIO, by iommufd or with an IOMMU of type 1. */
@NullMarked
package io.penstock.backend.nvme.vfio;

import org.jspecify.annotations.NullMarked;

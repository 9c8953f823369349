// SPDX-License-Identifier: Apache-2.0
/**
 * The two tables behind which a vendor stands, a driver API and a file API, and what they show of errors, properties
 * and options. Nothing else of this module depends on the vendor.
 */
@NullMarked
package io.penstock.backend.gpu.api;

import org.jspecify.annotations.NullMarked;

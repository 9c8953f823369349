// SPDX-License-Identifier: Apache-2.0
/** The double of the HIP runtime and of hipFile. */
@NullMarked
package io.penstock.backend.hip.fakes;

import org.jspecify.annotations.NullMarked;

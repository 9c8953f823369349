// SPDX-License-Identifier: Apache-2.0
/** Faults of a real system: file systems that fail, disks that fill up, crashes, calls that are refused. */
@NullMarked
package io.penstock.backend.host.faults;

import org.jspecify.annotations.NullMarked;

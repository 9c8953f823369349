// SPDX-License-Identifier: Apache-2.0
/** A Spring Boot application that streams pictures of a volume, which the backend's device draws. */
@NullMarked
package io.penstock.samples.turntable;

import org.jspecify.annotations.NullMarked;

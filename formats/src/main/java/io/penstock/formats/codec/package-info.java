// SPDX-License-Identifier: Apache-2.0
/** Bytes to bytes: what chunks passed through before they were stored, and small floats. Arrays are not known here. */
@NullMarked
package io.penstock.formats.codec;

import org.jspecify.annotations.NullMarked;

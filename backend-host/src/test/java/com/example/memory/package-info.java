// SPDX-License-Identifier: Apache-2.0
/** A backend as a third party writes it, with the published artifacts alone: memory on the heap behind the engine's staging. */
@NullMarked
package com.example.memory;

import org.jspecify.annotations.NullMarked;

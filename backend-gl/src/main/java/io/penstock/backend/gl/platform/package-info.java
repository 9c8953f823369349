// SPDX-License-Identifier: Apache-2.0
/**
 * Sources of contexts: EGL displays and devices, hidden windows on Windows, and the choice by options. Depends on
 * neither memory nor transfers.
 */
@NullMarked
package io.penstock.backend.gl.platform;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

/** Says that two handles are the same file. */
record FileIdentity(long device, long inode) {}

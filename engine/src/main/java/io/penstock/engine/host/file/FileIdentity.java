// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.file;

/** Identity of a file: equal for two handles to the same file. */
record FileIdentity(long device, long inode) {}

// SPDX-License-Identifier: Apache-2.0
/**
 * What the tests of every backend share, and which is compiled into each: {@code tck} knows nothing of queues, and no
 * jar of tests has to exist where tests are skipped. The gate ({@link HoldingPaths} and what it needs) is published as
 * {@code penstock-engine} with the classifier {@code testing}, for backends of others.
 */
package io.penstock.engine.testing;

// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;

/** The rules over a pool of blocking calls and the page cache. */
class HostPoolTckTest implements BackendRules {

    @Override
    public TckSubject subject() {
        return HostSubject.pool();
    }
}

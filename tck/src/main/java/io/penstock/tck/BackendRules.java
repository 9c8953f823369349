// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

/** All rules; what the test class of a backend implements. */
public interface BackendRules
        extends DiscoveryRules,
                FileRules,
                BufferRules,
                ReadRules,
                WriteRules,
                PairRules,
                EdgeRules,
                SubmitRules,
                DeliveryRules,
                CancelRules,
                HandoverRules,
                OrderRules,
                FenceRules,
                StreamRules,
                LeaseRules,
                WritePlanRules,
                PathRules,
                ErrorRules,
                CloseRules,
                LeakRules {}

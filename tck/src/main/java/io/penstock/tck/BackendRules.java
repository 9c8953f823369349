// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

/** All rules; implemented by the test class of a backend. */
public interface BackendRules
        extends DiscoveryRules,
                FileRules,
                BufferRules,
                ReadRules,
                WriteRules,
                PairRules,
                CopyRules,
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
                ByteRules,
                PackRules,
                ListenerRules,
                PathRules,
                ErrorRules,
                CloseRules,
                LeakRules {}

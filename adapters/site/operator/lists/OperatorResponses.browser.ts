/**
 * Response types of the operator's endpoints, derived from the contract.
 */
import type { DisputesApi } from "../../../http/trust/DisputesApi.ts"
import type { LogApi } from "../../../http/log/LogApi.ts"
import type { OperatorApi } from "../../../http/operator/OperatorApi.ts"
import type { OperatorListsApi } from "../../../http/operator/OperatorListsApi.ts"
import type { OperatorSessionApi } from "../../../http/operator/OperatorSessionApi.ts"
import type { PlatformApi } from "../../../http/platform/PlatformApi.ts"
import type { Response } from "../../kit/ApiResponses.browser.ts"

type Lists = typeof OperatorListsApi.endpoints

export type Session = Response<typeof OperatorSessionApi.endpoints.session>
export type AuditTrail = Response<typeof OperatorSessionApi.endpoints.auditTrail>
export type Summary = Response<typeof OperatorApi.endpoints.summary>
export type Solvency = Response<typeof OperatorApi.endpoints.solvency>
export type Consumers = Response<Lists["consumers"]>
export type Consumer = Response<Lists["consumer"]>
export type Providers = Response<Lists["providers"]>
export type Provider = Response<Lists["provider"]>
export type Disputes = Response<Lists["disputes"]>
export type Dispute = Response<Lists["dispute"]>
export type Resolved = Response<typeof DisputesApi.endpoints.resolve>
export type Payouts = Response<Lists["payouts"]>
export type RetriedPayout = Response<typeof OperatorApi.endpoints.retryPayout>
export type Claims = Response<Lists["claims"]>
export type Chargebacks = Response<Lists["chargebacks"]>
export type Jobs = Response<Lists["jobs"]>
export type Logs = Response<typeof LogApi.endpoints.logs>
export type Health = Response<typeof PlatformApi.endpoints.platformHealth>

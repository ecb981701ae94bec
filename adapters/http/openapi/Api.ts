/**
 * The contract of the HTTP API. Routes, documents and typed clients are derived from it.
 */
import { Context, type Schema } from "effect"
import { HttpApi, type HttpApiEndpoint, OpenApi } from "effect/http-api"
import { AccountsApi } from "../accounts/AccountsApi.ts"
import { LevelsApi } from "../accounts/LevelsApi.ts"
import { CatalogApi } from "../catalog/CatalogApi.ts"
import { ImportApi } from "../catalog/ImportApi.ts"
import { API_VERSION } from "../contract/BaseUrl.ts"
import { type AccessRule, declaredBy } from "../contract/Endpoint.ts"
import type { ProblemCode } from "../contract/Problem.ts"
import { PRODUCT_DESCRIPTION } from "../contract/SampleValues.ts"
import { PayoutsApi } from "../earnings/PayoutsApi.ts"
import { InvoicesApi } from "../invoices/InvoicesApi.ts"
import { LogApi } from "../log/LogApi.ts"
import { CallsApi } from "../metering/CallsApi.ts"
import { MeteringApi } from "../metering/MeteringApi.ts"
import { OperatorApi, OperatorSessionApi } from "../operator/OperatorApi.ts"
import { OperatorListsApi } from "../operator/OperatorListsApi.ts"
import { MoneyApi } from "../payments/MoneyApi.ts"
import { PlatformApi, StatusApi, SubmissionsApi } from "../platform/PlatformApi.ts"
import { ReceiptsApi } from "../receipts/ReceiptsApi.ts"
import { ToolboxApi } from "../toolbox/ToolboxApi.ts"
import { DisputesApi } from "../trust/DisputesApi.ts"
import { TrustApi } from "../trust/TrustApi.ts"

export class Api extends HttpApi.make("agent-tool-billing")
  .add(AccountsApi)
  .add(LevelsApi)
  .add(CatalogApi)
  .add(ImportApi)
  .add(CallsApi)
  .add(ToolboxApi)
  .add(MeteringApi)
  .add(MoneyApi)
  .add(PayoutsApi)
  .add(OperatorApi)
  .add(OperatorSessionApi)
  .add(OperatorListsApi)
  .add(InvoicesApi)
  .add(ReceiptsApi)
  .add(LogApi)
  .add(TrustApi)
  .add(DisputesApi)
  .add(PlatformApi)
  .add(StatusApi)
  .add(SubmissionsApi)
  .annotateMerge(
    OpenApi.annotations({
      title: "Agent Tool Billing",
      version: API_VERSION,
      description: `${PRODUCT_DESCRIPTION} Amounts are integers in microcents: 1 cent = 10,000 microcents.`,
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" }
    })
  ) {}

export interface EndpointInfo {
  /** The id in the OpenAPI document: group and name, such as `receipts.find`. */
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly rule: AccessRule
  /** Codes of problems that it declares by name. */
  readonly codes: ReadonlyArray<ProblemCode>
  readonly payload: Schema.Top | undefined
  readonly endpoint: HttpApiEndpoint.Top
}

const read = (): ReadonlyArray<EndpointInfo> => {
  const found: Array<EndpointInfo> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const { access: rule, codes } = declaredBy(endpoint)
      const summary = Context.getOrElse(endpoint.annotations, OpenApi.Summary, () => "")
      found.push({
        operationId: `${group.identifier}.${endpoint.identifier}`,
        method: endpoint.method,
        path: endpoint.path,
        summary,
        description: Context.getOrElse(endpoint.annotations, OpenApi.Description, () => summary),
        rule,
        codes,
        payload: endpoint.payload.get("application/json")?.schemas[0],
        endpoint
      })
    }
  })
  return found
}

let known: ReadonlyArray<EndpointInfo> | undefined

/** Read on first use, when all groups are loaded. */
export const allEndpoints = (): ReadonlyArray<EndpointInfo> => (known ??= read())

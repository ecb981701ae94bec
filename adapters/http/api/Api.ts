/**
 * The contract of the HTTP API. Routes, documents and typed clients are derived from it.
 */
import { HttpApi, type HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Context, type Schema } from "effect"
import { Access, type AccessRule } from "./Access.ts"
import { AccountsApi } from "./AccountsApi.ts"
import { CallsApi } from "./CallsApi.ts"
import { CatalogApi } from "./CatalogApi.ts"
import { DisputesApi } from "./DisputesApi.ts"
import { ImportApi } from "./ImportApi.ts"
import { InvoicesApi } from "./InvoicesApi.ts"
import { LogApi } from "./LogApi.ts"
import { MeteringApi } from "./MeteringApi.ts"
import { MoneyApi } from "./MoneyApi.ts"
import { OperatorApi } from "./OperatorApi.ts"
import { OperatorListsApi } from "./OperatorListsApi.ts"
import { OperatorSessionApi } from "./OperatorSessionApi.ts"
import { PayoutsApi } from "./PayoutsApi.ts"
import { PlatformApi } from "./PlatformApi.ts"
import { ReceiptsApi } from "./ReceiptsApi.ts"
import { PRODUCT_DESCRIPTION } from "./SampleValues.ts"
import { StatusApi } from "./StatusApi.ts"
import { SubmissionsApi } from "./SubmissionsApi.ts"
import { ToolboxApi } from "./ToolboxApi.ts"
import { TrustApi } from "./TrustApi.ts"

export const API_VERSION = "0.4.0" as const
/** What `version` refers to; the market API has its own version. */
export const API_VERSION_OF = "the platform API under /api/v1, and the trust layer"
export const MARKET_VERSION_OF = "the market API under /api/market"

export class Api extends HttpApi.make("agent-tool-billing")
  .add(AccountsApi)
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
  /** As in the OpenAPI document: group and name, such as `receipts.find`. */
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly rule: AccessRule
  readonly payload: Schema.Top | undefined
  readonly endpoint: HttpApiEndpoint.Top
}

const read = (): ReadonlyArray<EndpointInfo> => {
  const found: Array<EndpointInfo> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group, mergedAnnotations }) => {
      const summary = Context.getOrElse(endpoint.annotations, OpenApi.Summary, () => "")
      found.push({
        operationId: `${group.identifier}.${endpoint.identifier}`,
        method: endpoint.method,
        path: endpoint.path,
        summary,
        description: Context.getOrElse(endpoint.annotations, OpenApi.Description, () => summary),
        rule: Context.get(mergedAnnotations, Access),
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

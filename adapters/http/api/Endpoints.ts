/**
 * All endpoints of the contract, for indexes, self-descriptions and tests.
 */
import { Context, type Schema } from "effect"
import { HttpApi, type HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Access, type AccessRule } from "./Access.ts"
import { Api } from "./Api.ts"

export interface EndpointInfo {
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
    onEndpoint: ({ endpoint, mergedAnnotations }) => {
      const summary = Context.getOrElse(endpoint.annotations, OpenApi.Summary, () => "")
      found.push({
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

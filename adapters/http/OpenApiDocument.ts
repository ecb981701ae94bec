/**
 * The OpenAPI 3.1 document, made from the contract, with the examples that its schemas carry.
 */
import { Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { Api } from "./api/Api.ts"
import { allEndpoints } from "./api/Endpoints.ts"

export const openApiDocument = (baseUrl: string): OpenApi.OpenAPISpec => {
  const spec = OpenApi.fromApi(Api)
  spec.servers = [{ url: baseUrl }]
  for (const { payload, method, path } of allEndpoints()) {
    const example = payload === undefined ? undefined : exampleOf(payload)
    if (example === undefined) continue
    const operations = spec.paths[path.replace(/:(\w+)/gu, "{$1}") as `/${string}`]
    const content = operations?.[method.toLowerCase() as "post"]?.requestBody?.content["application/json"]
    if (content !== undefined) Object.assign(content, { example })
  }
  return spec
}

const exampleOf = (schema: Schema.Top): unknown => {
  const examples = Schema.resolveAnnotations(schema)?.["examples"]
  return Array.isArray(examples) ? examples[0] : undefined
}

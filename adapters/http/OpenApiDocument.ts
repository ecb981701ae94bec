/**
 * The OpenAPI 3.1 document, generated from the contract.
 */
import { OpenApi } from "effect/http-api"
import { Api } from "./api/Api.ts"
import { allEndpoints } from "./api/Endpoints.ts"
import { PRODUCT_DESCRIPTION } from "./api/SampleValues.ts"
import type { JsonSchema, OpenApiDocument, Operation } from "./openapi/OpenApiModel.ts"
import { operationOf } from "./openapi/Operations.ts"
import { headers, type SharedResponses } from "./openapi/Responses.ts"
import { tidyComponent } from "./openapi/TidySchema.ts"

const options: OpenApi.FromApiOptions = { includeAnnotationKey: (key) => key === "x-integer" }

export const openApiDocument = (baseUrl: string): OpenApiDocument => {
  const spec = OpenApi.fromApi(Api, options)
  const schemas = Object.fromEntries(
    Object.entries(spec.components.schemas).map(([name, schema]) => [name, tidyComponent(name, schema as JsonSchema)])
  )
  const shared: SharedResponses = new Map()
  const paths: Record<string, Record<string, Operation>> = {}
  for (const endpoint of allEndpoints()) {
    const path = endpoint.path.replace(/:(\w+)/gu, "{$1}")
    const method = endpoint.method.toLowerCase() as OpenApi.OpenAPISpecMethodName
    const operation = spec.paths[path]?.[method]
    if (operation !== undefined) (paths[path] ??= {})[method] = operationOf(endpoint, operation, schemas, shared)
  }
  const { title, version, description, license } = spec.info
  return {
    openapi: spec.openapi,
    info: {
      title,
      version,
      summary: PRODUCT_DESCRIPTION,
      description: description ?? "",
      license: { name: license?.name ?? "", url: license?.url ?? "" }
    },
    externalDocs: { url: `${baseUrl}/docs`, description: "Documentation and quickstart." },
    servers: [{ url: baseUrl, description: "This service." }],
    tags: spec.tags.map(({ name, description }) => ({ name, description: description ?? "" })),
    security: [],
    paths,
    components: {
      schemas,
      responses: Object.fromEntries([...shared].toSorted(([a], [b]) => (a < b ? -1 : 1))),
      headers,
      securitySchemes: { apiKey: bearer(spec) }
    }
  }
}

const bearer = (spec: OpenApi.OpenAPISpec) => ({
  type: "http" as const,
  scheme: "bearer" as const,
  bearerFormat: "API key",
  description: spec.components.securitySchemes["apiKey"]?.description ?? ""
})

/**
 * The OpenAPI 3.1 document, generated from the contract.
 */
import { Result, Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { PRODUCT_DESCRIPTION } from "../contract/SampleValues.ts"
import { allEndpoints, Api, type EndpointInfo } from "./Api.ts"
import {
  annotatedExample,
  composedExample,
  type Json,
  type JsonSchema,
  type OpenApiDocument,
  type Operation,
  type Parameter,
  tidy,
  tidyComponent
} from "./OpenApiModel.ts"
import { headers, responsesOf, type SharedResponses } from "./Responses.ts"

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
      securitySchemes: { apiKey: bearer(spec), apiKeyHeader }
    }
  }
}

const bearer = (spec: OpenApi.OpenAPISpec) => ({
  type: "http" as const,
  scheme: "bearer" as const,
  bearerFormat: "API key",
  description: spec.components.securitySchemes["apiKey"]?.description ?? ""
})

const apiKeyHeader = {
  type: "apiKey",
  in: "header",
  name: "X-API-Key",
  description: "The same key, for clients that cannot set `Authorization`. It counts where no bearer token is sent."
} as const

const operationOf = (
  endpoint: EndpointInfo,
  operation: OpenApi.OpenAPISpecOperation,
  components: Readonly<Record<string, JsonSchema>>,
  shared: SharedResponses
): Operation => {
  const { operationId, tags, security, requestBody } = operation
  const body = requestBody?.content["application/json"]?.schema as JsonSchema | undefined
  return {
    operationId,
    tags,
    summary: endpoint.summary,
    description: [
      ...(endpoint.description === endpoint.summary ? [] : [endpoint.description]),
      callers(endpoint.rule.roles)
    ].join("\n\n"),
    "x-roles": endpoint.rule.roles,
    security: security.length === 0 ? security : [...security, { apiKeyHeader: [] }],
    parameters: parametersOf(operation),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !isOptional(endpoint, body),
            content: {
              "application/json": {
                schema: tidy(body, false),
                example: requestExample(endpoint, body, components)
              }
            }
          }
        }),
    responses: responsesOf(endpoint, operation, components, shared)
  }
}

/** The last paragraph of every description. */
export const callers = (roles: ReadonlyArray<string>): string =>
  roles.length === 0 ? "No API key required." : `Requires ${nouns(roles).join(" or ")} key.`

const nouns = (roles: ReadonlyArray<string>) =>
  roles.map((role) => (/^[aeiou]/u.test(role) ? `an ${role}` : `a ${role}`))

/** The pipeline takes an absent body as an empty object: it is optional where the schema accepts that. */
const isOptional = ({ payload }: EndpointInfo, body: JsonSchema): boolean =>
  Object.keys(body).length > 0 &&
  Result.isSuccess(Schema.decodeUnknownResult(payload as Schema.Top & { readonly DecodingServices: never })({}))

const requestExample = (
  { payload }: EndpointInfo,
  body: JsonSchema,
  components: Readonly<Record<string, JsonSchema>>
): Json =>
  (payload === undefined ? undefined : annotatedExample(payload)) ?? composedExample(tidy(body, false), components)

const parametersOf = (operation: OpenApi.OpenAPISpecOperation): ReadonlyArray<Parameter> =>
  operation.parameters.map((parameter) => {
    const { description = "", examples, ...schema } = tidy(parameter.schema as JsonSchema, false)
    return {
      name: parameter.in === "header" ? canonical(parameter.name) : parameter.name,
      in: parameter.in as Parameter["in"],
      required: parameter.required,
      description,
      schema,
      ...(parameter.required ? { example: composedExample({ ...schema, ...(examples && { examples }) }, {}) } : {})
    }
  })

/** `idempotency-key` as it is usually written. */
const canonical = (header: string): string => header.replace(/\b[a-z]/gu, (letter) => letter.toUpperCase())

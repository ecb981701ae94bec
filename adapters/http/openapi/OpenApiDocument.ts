/**
 * The OpenAPI 3.1 document, generated from the contract.
 */
import { Result, Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { statusOf } from "../contract/Endpoint.ts"
import {
  codes,
  codesByStatus,
  exampleProblem,
  isProblemStatus,
  type ProblemCode,
  type ProblemStatus,
  schemaNameOf,
  titles
} from "../contract/Problem.ts"
import { PRODUCT_DESCRIPTION } from "../contract/SampleValues.ts"
import { EVENT_STREAM } from "../pipeline/WebRequest.ts"
import { allEndpoints, Api, type EndpointInfo } from "./Api.ts"
import {
  annotatedExample,
  composedExample,
  type Content,
  type Header,
  type Json,
  type JsonSchema,
  type MediaType,
  nameOfRef,
  type OpenApiDocument,
  type Operation,
  type Parameter,
  type Reference,
  type Response,
  tidy,
  tidyComponent
} from "./OpenApiModel.ts"

// The responses of an operation: its successes, each with an example and its other media types, and the problems that
// operations share.

type Components = Readonly<Record<string, JsonSchema>>

const JSON_TYPE = "application/json"
const PROBLEM_TYPE = "application/problem+json"

const text = (description: string): Header => ({ description, schema: { type: "string" } })
const count = (description: string): Header => ({ description, schema: { type: "integer", minimum: 0 } })

const HEADERS: Readonly<Record<string, Header>> = {
  "X-Request-Id": text("ID of the request: the value that you sent, up to 64 characters, else a generated one."),
  "X-RateLimit-Limit": count("Rate limit in requests per minute."),
  "X-RateLimit-Remaining": count("Number of requests left."),
  "X-RateLimit-Reset": count("Seconds until the rate limit is fully replenished."),
  "Retry-After": count("Seconds to wait before the next attempt."),
  "WWW-Authenticate": text("Always `Bearer`."),
  "Idempotent-Replay": text("`true` if this is the stored response of an earlier request."),
  "X-Market-Cost": count("Cost of the call in microcents."),
  "X-Market-Provider": text("ID of the provider."),
  "X-Market-Latency": count("Time that the provider took, in milliseconds."),
  "X-Market-Tool": text("ID of the tool."),
  "X-Market-Receipt": text("ID of the receipt."),
  "X-Market-Retried": text("`true` if the call was retried.")
}

/** Code generators make identifiers of the names of components. */
const componentOf = (header: string): string => header.replaceAll("-", "")

const headers: Readonly<Record<string, Header>> = Object.fromEntries(
  Object.entries(HEADERS).map(([name, header]) => [componentOf(name), header])
)

const CALL_HEADERS = Object.keys(HEADERS).filter((name) => name.startsWith("X-Market-"))

const headersFor = (...names: ReadonlyArray<string>): Readonly<Record<string, Reference>> =>
  Object.fromEntries(
    ["X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", ...names].map((name) => [
      name,
      { $ref: `#/components/headers/${componentOf(name)}` }
    ])
  )

const EXTRA_HEADERS: Partial<Record<ProblemStatus, string>> = {
  401: "WWW-Authenticate",
  409: "Retry-After",
  429: "Retry-After",
  503: "Retry-After"
}

/** Problems that operations share, named by status and codes. */
type SharedResponses = Map<string, Response>

const responsesOf = (
  endpoint: EndpointInfo,
  operation: OpenApi.OpenAPISpecOperation,
  components: Components,
  shared: SharedResponses
): Readonly<Record<string, Response | Reference>> =>
  Object.fromEntries(
    Object.entries(operation.responses).map(([statusText, response]) => {
      const status = Number(statusText)
      const successes = [...endpoint.endpoint.success].filter((schema) => statusOf(schema) === status)
      const problem =
        response.content?.[PROBLEM_TYPE] !== undefined && isProblemStatus(status)
          ? problemResponse(status, codesAt(status, endpoint))
          : undefined
      const own = otherProblem(operation.operationId, status)
      if (problem !== undefined && Object.keys(own).length > 0) {
        return [statusText, { ...problem, content: { ...own, ...problem.content } }]
      }
      if (successes.length === 0 && problem !== undefined) {
        const name = ["Problem", status, ...Object.keys(problem.content[PROBLEM_TYPE]?.examples ?? {})].join("_")
        shared.set(name, problem)
        return [statusText, { $ref: `#/components/responses/${name}` }]
      }
      // The generator keeps only the problem where a success has the same status.
      const type = Object.keys(response.content ?? {}).find((one) => one !== PROBLEM_TYPE) ?? JSON_TYPE
      const schema = (response.content?.[type]?.schema as JsonSchema | undefined) ?? schemaOf(successes[0])
      const success = successResponse(
        endpoint,
        operation.operationId,
        status,
        type,
        tidy(schema, false),
        successes,
        components
      )
      return [
        statusText,
        problem === undefined ? success : { ...success, content: { ...success.content, ...problem.content } }
      ]
    })
  )

const problemResponse = (status: ProblemStatus, declared: ReadonlyArray<ProblemCode>): Response => ({
  description: titles[status],
  headers: headersFor(...(EXTRA_HEADERS[status] === undefined ? [] : [EXTRA_HEADERS[status]])),
  content: {
    [PROBLEM_TYPE]: {
      schema: problemSchema(status),
      examples: Object.fromEntries(
        declared.map((code) => [code, { summary: codes[code].remedy, value: exampleProblem(status, code) }])
      )
    }
  }
})

/** Endpoints that take an idempotency key declare headers. */
const takesIdempotencyKey = ({ endpoint }: EndpointInfo): boolean => endpoint.headers !== undefined

const codesAt = (status: ProblemStatus, endpoint: EndpointInfo): ReadonlyArray<ProblemCode> =>
  codesByStatus[status].filter(
    (code) =>
      !codes[code].isNamed ||
      endpoint.codes.includes(code) ||
      (code === "IDEMPOTENCY_CONFLICT" && takesIdempotencyKey(endpoint))
  )

const problemSchema = (status: ProblemStatus): JsonSchema => {
  const refs = codesByStatus[status].map((code) => ({ $ref: `#/components/schemas/${schemaNameOf(status, code)}` }))
  return refs.length === 1 ? refs[0]! : { anyOf: refs }
}

const successResponse = (
  endpoint: EndpointInfo,
  operationId: string,
  status: number,
  type: string,
  schema: JsonSchema,
  successes: ReadonlyArray<Schema.Top>,
  components: Components
): Response => {
  const example =
    successes.map(annotatedExample).find((found) => found !== undefined) ?? composedExample(schema, components)
  const isCall = endpoint.endpoint.identifier === "proxy"
  const usual = { schema, example }
  const content: Content = { [type]: usual, ...otherMedia(operationId, status, usual) }
  return {
    description: meaningsOf(schema, components).join(" Or: ") || "Success.",
    headers: headersFor(
      ...(takesIdempotencyKey(endpoint) ? ["Idempotent-Replay"] : []),
      ...(isCall ? CALL_HEADERS : [])
    ),
    content
  }
}

const meaningsOf = (schema: JsonSchema, components: Components): ReadonlyArray<string> => {
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((choice) => meaningsOf(choice, components))
  const description = schema.$ref === undefined ? schema.description : components[nameOfRef(schema.$ref)]?.description
  return description === undefined ? [] : [description]
}

const schemaOf = (success: Schema.Top | undefined): JsonSchema => {
  const identifier = success === undefined ? undefined : Schema.resolveAnnotations(success)?.identifier
  return typeof identifier === "string" ? { $ref: `#/components/schemas/${identifier}` } : {}
}

/** Media types that a client can request by `Accept` or by path. */
const otherMedia = (operationId: string, status: number, usual: MediaType): Content =>
  status === 200 ? (MEDIA[operationId]?.(usual) ?? {}) : {}

const textMedia = (description: string, example: string): MediaType => ({
  schema: { type: "string", description },
  example
})

const MEDIA: Readonly<Record<string, (usual: MediaType) => Content>> = {
  // Described by the data of its last event: a client's type of the response is a string besides where a stream is text.
  "calls.proxy": ({ example, schema }) => ({
    [EVENT_STREAM]: {
      schema: {
        description:
          "With `Accept: text/event-stream`, if the provider reports progress: server-sent events. `progress` has " +
          "`progress` and optionally `total` and `message`. The last event is `result` or `problem`, with this as its data.",
        ...schema
      },
      example: example!
    }
  }),
  "log.proof": () => ({
    "text/plain": textMedia(
      "The proof as `c2sp.org/tlog-proof@v1`, unless `Accept` is `application/json`.",
      "c2sp.org/tlog-proof@v1\nextra …\nindex 0\n\n…"
    )
  }),
  "invoices.find": () => ({
    "text/html": textMedia("With `.html` after the ID: the document as HTML.", "<!doctype html>…"),
    "application/pdf": {
      schema: { type: "string", format: "binary", description: "With `.pdf` after the ID: the document as PDF." },
      example: "%PDF-1.7 …"
    }
  })
}

/** A problem in a form of its own, which existing clients compare byte for byte. */
const otherProblem = (operationId: string, status: number): Content =>
  operationId === "receipts.verify" && status === 400
    ? {
        "application/json": {
          schema: {
            type: "object",
            description: "For a body that is not JSON: exactly this.",
            properties: {
              error: { type: "boolean", description: "Always true." },
              code: { type: "string", description: "Error code.", enum: ["BAD_REQUEST"] }
            },
            required: ["error", "code"]
          },
          example: { error: true, code: "BAD_REQUEST" }
        }
      }
    : {}

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

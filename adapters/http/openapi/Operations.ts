/**
 * An operation of the document: who may call it, what it takes, what it returns.
 */
import { Result, Schema } from "effect"
import type { OpenApi } from "effect/http-api"
import type { EndpointInfo } from "../api/Endpoints.ts"
import { annotatedExample, composedExample } from "./Examples.ts"
import type { Json, JsonSchema, Operation, Parameter } from "./OpenApiModel.ts"
import { responsesOf, type SharedResponses } from "./Responses.ts"
import { tidy } from "./TidySchema.ts"

export const operationOf = (
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
    security,
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

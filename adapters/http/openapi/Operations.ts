/**
 * An operation as the document shows it: who may call it, what it takes, what it answers.
 */
import { Result, Schema } from "effect"
import type { OpenApi } from "effect/http-api"
import type { EndpointInfo } from "../api/Endpoints.ts"
import { annotatedExample, composedExample } from "./Examples.ts"
import type { Json, JsonSchema, Operation, Parameter } from "./OpenApiModel.ts"
import { responsesOf, type SharedResponses } from "./Responses.ts"
import { tidy } from "./TidySchema.ts"
import { descriptionFor } from "./Vocabulary.ts"

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
            required: !mayBeLeftOut(endpoint, body),
            content: {
              "application/json": {
                schema: tidy(body, false),
                example: requestExample(endpoint, operationId, body, components)
              }
            }
          }
        }),
    responses: responsesOf(endpoint, operation, components, shared)
  }
}

/** The last paragraph of every description. */
export const callers = (roles: ReadonlyArray<string>): string =>
  roles.length === 0 ? "Anybody may call it, without a key." : `Needs a ${roles.join(" or a ")} key.`

/** No body is an empty object to the pipeline; whether that will do, the contract's schema knows. */
const mayBeLeftOut = ({ payload }: EndpointInfo, body: JsonSchema): boolean =>
  Object.keys(body).length > 0 &&
  Result.isSuccess(Schema.decodeUnknownResult(payload as Schema.Top & { readonly DecodingServices: never })({}))

const requestExample = (
  { payload }: EndpointInfo,
  operationId: string,
  body: JsonSchema,
  components: Readonly<Record<string, JsonSchema>>
): Json =>
  (payload === undefined ? undefined : annotatedExample(payload)) ??
  composedExample(tidy(body, false), components, operationId, "body")

const parametersOf = (operation: OpenApi.OpenAPISpecOperation): ReadonlyArray<Parameter> => {
  return operation.parameters.map((parameter): Parameter => {
    const name = parameter.in === "header" ? canonical(parameter.name) : parameter.name
    const { description, ...schema } = tidy(parameter.schema as JsonSchema, false)
    const example = parameter.required ? composedExample(schema, {}, operation.operationId, name) : undefined
    return {
      name,
      in: parameter.in as Parameter["in"],
      required: parameter.required,
      description: description ?? descriptionFor(operation.operationId, name) ?? "",
      schema,
      ...(example === undefined ? {} : { example })
    }
  })
}

/** `idempotency-key` as it is usually written. */
const canonical = (header: string): string => header.replace(/\b[a-z]/gu, (letter) => letter.toUpperCase())

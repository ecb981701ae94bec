/**
 * The OpenAPI document: valid by common rules, complete by the contract, and true of the service.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SAMPLE_OPERATOR_KEY } from "../../../adapters/http/contract/SampleValues.ts"
import { allEndpoints, type EndpointInfo } from "../../../adapters/http/openapi/Api.ts"
import { openApiDocument } from "../../../adapters/http/openapi/OpenApiDocument.ts"
import {
  type Content,
  type Json,
  type JsonSchema,
  nameOfRef,
  operationsOf,
  PLACEHOLDER,
  responseOf
} from "../../../adapters/http/openapi/OpenApiModel.ts"
import { fieldNames } from "../../support/checks/EndpointTable.ts"
import { redocly, validatorOf } from "../../support/checks/OpenApiCheck.ts"
import { LIVE, send, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"

const BASE_URL = "https://billing.example.org"
const document = openApiDocument(BASE_URL)
const operations = operationsOf(document)
const faultOf = validatorOf(document)

const titleOf = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`
const pathOf = (endpoint: EndpointInfo) => endpoint.path.replace(/:(\w+)/gu, "{$1}")

layer(NodeServices.layer, { excludeTestServices: true })("Redocly's recommended rules", (it) => {
  it.effect(
    "report no warning",
    () => Effect.map(redocly(document), (complaints) => assert.deepStrictEqual(complaints, [])),
    180_000
  )

  it.effect(
    "would report a wrong example, a missing summary and an unused component",
    () =>
      Effect.gen(function* () {
        const spoilt = structuredClone(document) as unknown as Spoilable
        delete spoilt.paths["/api/market/catalog"]!["get"]!["summary"]
        spoilt.paths["/api/market/register-consumer"]!["post"]!.requestBody.content["application/json"].example.email =
          7
        spoilt.components.schemas["Nobody"] = { type: "string" }
        const rules = (yield* redocly(spoilt)).map((complaint) => complaint.rule)
        assert.includeMembers(rules, ["operation-summary", "no-invalid-media-type-examples", "no-unused-components"])
      }),
    180_000
  )
})

interface Spoilable {
  readonly paths: Record<
    string,
    Record<
      string,
      { summary?: string; requestBody: { content: { "application/json": { example: Record<string, unknown> } } } }
    >
  >
  readonly components: { readonly schemas: Record<string, unknown> }
}

describe("the document", () => {
  it("names every endpoint of the contract, and no other", () => {
    assert.deepStrictEqual(
      operations.map(titleOf).toSorted(),
      allEndpoints()
        .map((endpoint) => `${endpoint.method} ${pathOf(endpoint)}`)
        .toSorted()
    )
  })

  it.each(allEndpoints().map((endpoint) => [titleOf(endpoint), endpoint] as const))(
    "%s lists its errors",
    (_, endpoint) => {
      const operation = document.paths[pathOf(endpoint)]![endpoint.method.toLowerCase()]!
      const problems = Object.entries(operation.responses).filter(([, response]) =>
        Object.hasOwn(responseOf(document, response).content, "application/problem+json")
      )
      const statuses = problems.map(([status]) => Number(status))
      assert.includeMembers(statuses, [429, 500, 503])
      if (endpoint.rule.roles.length > 0) assert.includeMembers(statuses, [401])
      if (endpoint.payload !== undefined) assert.includeMembers(statuses, [400, 413, 415])
      if (endpoint.endpoint.query !== undefined) assert.includeMembers(statuses, [400])
      if (endpoint.rule.idempotent) assert.includeMembers(statuses, [409])
      for (const [status, response] of problems) {
        const examples = Object.entries(
          responseOf(document, response).content["application/problem+json"]!.examples ?? {}
        )
        assert.isNotEmpty(examples, `${status} names no code`)
        for (const [code, { value }] of examples)
          assert.include(value as object, { code, status: Number(status), error: true })
      }
    }
  )

  it("requires a key where the service does, of the same role", () => {
    assert.strictEqual(
      JSON.stringify(document.components.securitySchemes["apiKey"]).includes('"scheme":"bearer"'),
      true
    )
    for (const endpoint of allEndpoints()) {
      const operation = document.paths[pathOf(endpoint)]![endpoint.method.toLowerCase()]!
      const keyed = endpoint.rule.roles.length > 0
      assert.deepStrictEqual(operation.security, keyed ? [{ apiKey: [] }, { apiKeyHeader: [] }] : [], titleOf(endpoint))
      assert.deepStrictEqual(operation["x-roles"], endpoint.rule.roles)
      assert.strictEqual(
        operation.parameters.some((parameter) => parameter.name === "Idempotency-Key"),
        fieldNames(endpoint.endpoint.headers).includes("idempotency-key"),
        titleOf(endpoint)
      )
    }
  })

  it("describes every field and every parameter", () => {
    const unexplained = [
      ...Object.entries(document.components.schemas).flatMap(([name, schema]) => fieldsWithout(name, schema)),
      ...operations.flatMap(({ operation }) =>
        operation.parameters
          .filter((parameter) => parameter.description === "")
          .map((parameter) => `${operation.operationId}.${parameter.name}`)
      )
    ]
    assert.deepStrictEqual(unexplained, [], "describe them with `Field.of` in adapters/http/api")
  })

  it("closes every request body and the public receipt; responses may grow", () => {
    const closed = Object.entries(document.components.schemas)
      .filter(([, schema]) => JSON.stringify(schema).includes('"additionalProperties":false'))
      .map(([name]) => name)
    assert.includeMembers(closed, [
      "Receipt",
      "ProxyCall",
      "MeteredCall",
      "RegisterProvider",
      "ToolDeclaration",
      "NoContent"
    ])
    const sent = operations.flatMap(({ operation }) =>
      namesIn(operation.requestBody?.content["application/json"]?.schema)
    )
    const open = ["MeteredEvent", "StripeEvent", "JoinWaitlist", "GiveFeedback", "Apply"]
    assert.sameMembers(
      [...new Set(sent)].filter((name) => !closed.includes(name)),
      open
    )
    assert.notIncludeMembers(closed, ["CatalogPage", "Problem422", "Balance", "CallResult", ...open])
  })

  it("has the public receipt of section 2.1, for every issuer", () => {
    const { description: _, properties = {}, ...receipt } = document.components.schemas["Receipt"]!
    const bare = Object.fromEntries(
      Object.entries(properties).map(([name, { description: _description, examples: _examples, ...field }]) => [
        name,
        field
      ])
    )
    assert.strictEqual(receipt.title, "Billing v1 Public Receipt")
    assert.deepInclude(receipt, { type: "object", additionalProperties: false })
    assert.sameMembers([...receipt.required!], Object.keys(bare))
    const id = { type: "string", minLength: 1 }
    const at = { type: "string", format: "date-time" }
    assert.deepStrictEqual(bare, {
      receipt_id: { type: "string", pattern: "^rcpt_[0-9a-f]{16,}$" },
      tool_id: id,
      tool_name: { anyOf: [{ type: "string" }, { type: "null" }] },
      agent_id: id,
      provider_id: id,
      timestamp: at,
      duration_ms: { anyOf: [{ type: "integer", minimum: 0 }, { type: "null" }] },
      cost_microcents: { type: "integer", minimum: 0 },
      status: { type: "string", enum: ["success", "error", "timeout", "rate_limited"] },
      signature: { type: "string", pattern: "^[0-9a-f]{64}$" },
      created_at: at
    })
  })

  it("names every component by an identifier, for code generators", () => {
    const names = Object.values(document.components).flatMap((section) => Object.keys(section))
    assert.isAbove(names.length, 200)
    assert.deepStrictEqual(
      names.filter((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/u.test(name)),
      []
    )
  })

  it("requires a body wherever an empty one is rejected", () => {
    const optional = operations.filter(({ operation }) => operation.requestBody?.required === false)
    assert.includeMembers(optional.map(titleOf), ["POST /api/v1/market/keys", "POST /api/v1/market/keys/rotate"])
    for (const located of ["/api/market/proxy", "/api/market/register-consumer"]) {
      assert.strictEqual(document.paths[located]?.["post"]?.requestBody?.required, true)
    }
  })

  it("names the address of this service", () => {
    assert.deepStrictEqual(
      document.servers.map((server) => server.url),
      [BASE_URL]
    )
    assert.strictEqual(document.info.license.name, "Apache-2.0")
    assert.deepStrictEqual(
      operations
        .flatMap(({ operation }) => operation.tags)
        .filter((tag) => !document.tags.some(({ name }) => name === tag)),
      []
    )
  })
})

describe("every example", () => {
  const mediaOf = (name: string, content: Content) =>
    Object.entries(content).map(([type, media]) => [`${name} (${type})`, media] as const)
  const bodies = [
    ...operations.flatMap((located) => [
      ...mediaOf(`the body of ${titleOf(located)}`, located.operation.requestBody?.content ?? {}),
      ...Object.entries(located.operation.responses).flatMap(([status, response]) =>
        "$ref" in response ? [] : mediaOf(`${titleOf(located)} ${status}`, response.content)
      )
    ]),
    ...Object.entries(document.components.responses).flatMap(([name, response]) => mediaOf(name, response.content))
  ]

  it.each(bodies)("of %s fits its schema", (_, media) => {
    const examples =
      media.example === undefined ? Object.values(media.examples ?? {}).map(({ value }) => value) : [media.example]
    assert.isNotEmpty(examples)
    for (const example of examples) {
      assert.isUndefined(faultOf(media.schema, example))
      assert.notInclude(JSON.stringify(example), PLACEHOLDER, "give the field an example in adapters/http/api")
    }
  })

  it("of a parameter fits its schema, and every required one has one", () => {
    for (const { operation } of operations) {
      for (const { name, required, schema, example } of operation.parameters) {
        assert.strictEqual(example !== undefined, required, `${operation.operationId}.${name}`)
        if (example !== undefined) assert.isUndefined(faultOf(schema, example), `${operation.operationId}.${name}`)
      }
    }
  })

  it("of a body is accepted by the contract's own schema", () => {
    for (const endpoint of allEndpoints()) {
      const body = document.paths[pathOf(endpoint)]![endpoint.method.toLowerCase()]!.requestBody
      if (endpoint.payload === undefined || body === undefined) continue
      const accepted = Schema.decodeUnknownExit(endpoint.payload as Schema.Codec<unknown>)(
        body.content["application/json"]!.example
      )
      assert.strictEqual(accepted._tag, "Success", `${titleOf(endpoint)}: ${String(accepted)}`)
    }
  })

  it("would be rejected with a field of the wrong type", () => {
    const page: JsonSchema = { $ref: "#/components/schemas/CatalogPage" }
    const media = responseOf(document, document.paths["/api/market/catalog"]!["get"]!.responses["200"]!).content[
      "application/json"
    ]!
    assert.isUndefined(faultOf(page, media.example!))
    assert.include(faultOf(page, { ...(media.example as Record<string, Json>), total: "1" }), "total")
  })
})

const OPERATOR_KEY = "the operator's key in place of the sample's"
/** The example, with the values that its reader has in place of the placeholders. */
const filledIn = (body: Json): Json =>
  JSON.parse(JSON.stringify(body).replaceAll(SAMPLE_OPERATOR_KEY, OPERATOR_KEY)) as Json

it.layer(ServiceUnderTest.memory({ BASE_URL, OPERATOR_KEY }), LIVE)("the service", (it) => {
  const open = operations.filter(
    ({ operation }) =>
      operation["x-roles"].length === 0 && operation.parameters.every((parameter) => !parameter.required)
  )

  it.effect.each(open.map((located) => [titleOf(located), located] as const))(
    "answers the example of %s as documented",
    ([, { method, path, operation }]) =>
      Effect.gen(function* () {
        const body = operation.requestBody?.content["application/json"]?.example
        const answer = yield* send({ method, path, ...(body === undefined ? {} : { json: filledIn(body) }) })
        const { content } = responseOf(document, operation.responses[String(answer.status)]!)
        const documented = content["application/json"] ?? content["text/plain"]
        assert.oneOf(answer.status, [200, 201])
        assert.isUndefined(faultOf(documented!.schema, answer.json ?? answer.text))
      })
  )

  it.effect("serves the document, with its own address in it", () =>
    Effect.gen(function* () {
      const answer = yield* send({ path: "/api/openapi.json" })
      assert.strictEqual(answer.status, 200)
      assert.include(answer.headers, {
        "content-type": "application/json; charset=utf-8",
        "cache-control": "public, max-age=60",
        "access-control-allow-origin": "*"
      })
      assert.deepStrictEqual(answer.json, JSON.parse(JSON.stringify(document)))
    })
  )
})

const fieldsWithout = (name: string, schema: JsonSchema): ReadonlyArray<string> => [
  ...Object.entries(schema.properties ?? {}).flatMap(([key, property]) => [
    ...(property.description === undefined ? [`${name}.${key}`] : []),
    ...fieldsWithout(name, property)
  ]),
  ...(schema.items === undefined ? [] : fieldsWithout(name, schema.items)),
  ...(schema.anyOf ?? []).flatMap((choice) => fieldsWithout(name, choice))
]

/** Names of components that a schema refers to. */
const namesIn = (schema: JsonSchema | undefined): ReadonlyArray<string> =>
  schema === undefined
    ? []
    : schema.$ref === undefined
      ? (schema.anyOf ?? []).flatMap(namesIn)
      : [nameOfRef(schema.$ref)]

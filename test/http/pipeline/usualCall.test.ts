/**
 * Usual bodies of calls are accepted without their schema. The schema must accept the same bodies, and read the same in them.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Schema } from "effect"
import { CallsApi } from "../../../adapters/http/metering/CallsApi.ts"
import { decodingUsual, usualCall } from "../../../adapters/http/metering/Proxy.ts"
import { decodingOf } from "../../../adapters/http/pipeline/Decoding.ts"
import { ToolNameSent } from "../../../domain/catalog/Tool.ts"
import { ProviderId, ToolId } from "../../../domain/shared/Ids.ts"

const schema = CallsApi.endpoints.proxy.payload.get("application/json")!.schemas[0]!
const { decodePayload } = decodingOf(CallsApi.endpoints.proxy as never, schema as never)
const bySchema = (body: unknown) => Effect.runSyncExit(decodePayload(body))

const JsonObject = Schema.Record(Schema.String, Schema.Json)
const Named = Schema.Union([
  Schema.Struct({ tool_id: ToolId }),
  Schema.Struct({ tool_name: ToolNameSent }),
  Schema.Struct({ tool_id: ToolId, tool_name: ToolNameSent, provider_id: ProviderId })
])
const Given = Schema.Union([
  Schema.Struct({ input: JsonObject }),
  Schema.Struct({ arguments: JsonObject }),
  Schema.Struct({})
])

const Names = Schema.Literals([
  "tool_id",
  "tool_name",
  "provider_id",
  "input",
  "arguments",
  "max_cost_microcents",
  "price_version",
  "dry_run",
  "metadata",
  "dry_runn",
  "__proto__"
])
const Values = Schema.Union([ToolId, ToolNameSent, JsonObject, Schema.Json])

/** As the server gets it. */
const parsed = (body: unknown): unknown => JSON.parse(JSON.stringify(body))

describe("A usual call", () => {
  it.prop("is accepted, and read as its schema reads it", { named: Named, given: Given }, ({ given, named }) => {
    const body = parsed({ ...named, ...given })
    const usual = usualCall(body)
    assert.isDefined(usual)
    assert.deepStrictEqual(bySchema(body), Exit.succeed(usual))
  })

  it.prop(
    "is none that its schema rejects, or reads differently",
    { body: Schema.Array(Schema.Tuple([Names, Values])) },
    ({ body: entries }) => {
      const body = parsed(Object.fromEntries(entries))
      const usual = usualCall(body)
      if (usual !== undefined) assert.deepStrictEqual(bySchema(body), Exit.succeed(usual))
    }
  )

  it.each([
    [{}],
    [{ tool_name: "" }],
    [{ tool_id: "1" }],
    [{ tool_name: "echo", input: [] }],
    [{ tool_name: "echo", input: null }],
    [{ tool_name: "echo", input: {}, arguments: {} }],
    [{ tool_name: "echo", inputs: {} }],
    [{ provider_id: "0198d3f0-8a6b-7000-8000-000000000000" }],
    [[]],
    [null]
  ])("is not %j", (body) => {
    assert.isUndefined(usualCall(body))
    assert.isTrue(Exit.isFailure(bySchema(body)))
  })
})

describe("an unusual call", () => {
  it("is decoded without reading what its input contains", () => {
    const input = new Proxy({}, { ownKeys: () => assert.fail("it is read") })
    const call = Effect.runSync(decodingUsual(decodePayload)({ tool_name: "echo", dry_run: true, input }))
    assert.strictEqual((call as { readonly input: unknown }).input, input)
  })

  it.each([
    [{ tool_name: "echo", dry_run: true, input: { a: [1] }, metadata: { b: {} } }],
    [{ tool_name: "echo", dry_run: 1, input: {} }],
    [{ tool_name: "echo", input: {}, arguments: {} }],
    [{ tool_name: "echo", dry_run: true, input: [] }]
  ])("is read as its schema reads it: %j", (body) => {
    assert.deepStrictEqual(Effect.runSyncExit(decodingUsual(decodePayload)(body)), bySchema(body))
  })
})

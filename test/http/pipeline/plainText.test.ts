/**
 * What a user gives and others see has no control, bidirectional and zero-width characters: see `PlainText`.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Result, Schema, SchemaAST } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { make } from "../../../adapters/http/client/ApiClient.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { everyBody, everyEndpoint, titleOf } from "../../support/checks/EndpointTable.ts"
import {
  aConsumer,
  aProvider,
  at,
  consumerBody,
  CONSUMERS,
  expecting,
  faultPaths,
  listedTool,
  providerBody,
  PROVIDERS,
  putTools,
  TOOLS,
  valueAt
} from "../../support/market/Market.ts"
import { LIVE, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"
import { asked, toolCalled } from "../../support/mcp/ModernClient.ts"
import { memoryCore } from "../../support/metering/Core.ts"

const HIDDEN = "ab\u202ec"

/** Read by the service or by a provider's program only. The verifier returns what its caller sent, and stores nothing. */
const UNSEEN = new Set([
  "POST /api/v1/operator/session: key",
  "POST /api/v1/market/providers/verify: token",
  "POST /api/v1/market/meter: id",
  "POST /api/v1/market/meter: source",
  "POST /api/v1/market/meter: type"
])

const accepts = (ast: SchemaAST.AST, value: unknown): boolean =>
  Result.isSuccess(Schema.decodeUnknownResult(Schema.make<Schema.Decoder<unknown>>(ast))(value))

/** The fields that accept the text, or a list with it, by their paths. */
const accepting = (ast: SchemaAST.AST, text: string, path = ""): ReadonlyArray<string> => {
  if (SchemaAST.isUnion(ast)) return ast.types.flatMap((type) => accepting(type, text, path))
  if (SchemaAST.isArrays(ast)) return ast.rest.flatMap((type) => accepting(type, text, path))
  if (!SchemaAST.isObjects(ast)) return []
  return ast.propertySignatures.flatMap(({ name, type }) => [
    ...(accepts(type, text) || accepts(type, [text]) ? [`${path}${String(name)}`] : []),
    ...accepting(type, text, `${path}${String(name)}.`)
  ])
}

const inBodies = (text: string) =>
  everyBody()
    .filter(({ path }) => path !== "/api/v1/verify")
    .flatMap((endpoint) => accepting(endpoint.payload!.ast, text).map((field) => `${titleOf(endpoint)}: ${field}`))

const inResponses = (text: string) =>
  everyEndpoint().flatMap((info) =>
    [...info.endpoint.success].flatMap(({ ast }) => accepting(ast, text).map((field) => `${titleOf(info)}: ${field}`))
  )

it("every text of a body rejects hidden characters, unless only a program reads it", () => {
  assert.isAtLeast(inBodies("abc").length, 40)
  assert.deepStrictEqual(
    inBodies(HIDDEN).filter((field) => !UNSEEN.has(field)),
    []
  )
})

it("no text of a response is checked by the rules of requests: it may have been stored before them", () => {
  const plain = inResponses("abc")
  assert.isAtLeast(plain.length, 500)
  const stored = new Set(inResponses(`/abc${HIDDEN}`))
  assert.deepStrictEqual(
    plain.filter((field) => !stored.has(field)),
    []
  )
})

it.layer(ServiceUnderTest.memory(), LIVE)("Text with hidden characters", (it) => {
  it.effect("is rejected with the character's code, in names, titles, descriptions and schemas", () =>
    Effect.gen(function* () {
      const fault = yield* expecting(422, { path: CONSUMERS, json: consumerBody({ name: HIDDEN }) })
      assert.deepStrictEqual(faultPaths(fault), ["name"])
      assert.include(fault.text, "U+202E")
      for (const name of ["a\nb", "a\tb", "a\u200db"]) {
        yield* expecting(422, { path: CONSUMERS, json: consumerBody({ name }) })
      }
      yield* expecting(422, { path: PROVIDERS, json: providerBody({ description: HIDDEN }) })
      const provider = yield* aProvider()
      const input_schema = { type: "object", properties: { q: { type: "string", description: HIDDEN } } }
      for (const fields of [{ display_name: HIDDEN }, { description: HIDDEN }, { input_schema }]) {
        const json = { tools: [{ tool_name: "t", ...fields }] }
        const rejected = yield* expecting(422, { path: TOOLS, key: provider.key, json })
        assert.include(rejected.text, "U+202E")
      }
    })
  )

  it.effect("is not: newlines, tabs and joiners of a description", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      yield* putTools(provider, { tool_name: "t", description: "👩\u200d🚀 می\u200cخواهم\r\n\tb" })
      assert.strictEqual(valueAt(yield* listedTool(provider, "t"), "description"), "👩\u200d🚀 می\u200cخواهم\n\tb")
      const named = yield* expecting(201, { path: CONSUMERS, json: consumerBody({ name: " Ünï ❤️\n" }) })
      assert.strictEqual(at(named, "name"), "Ünï ❤️")
    })
  )

  it.effect("names of tools cannot change the path of a URL; `__` is legal", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider()
      const put = (status: number, tool_name: string) =>
        expecting(status, { path: TOOLS, key: provider.key, json: { tools: [{ tool_name }] } })
      for (const name of ["/etc", "./a", "../a", "a/../b", "a./b", "a/./b", "..", "a/.."]) yield* put(422, name)
      for (const name of ["acme__t", "a/b", ".a", "a.b/c..d"]) yield* put(201, name)
    })
  )
})

/** Sends what the client for Effect sends to the service under test. */
const throughTests = Effect.map(ServiceUnderTest, (service) =>
  HttpClient.make((request, { pathname, search }) =>
    Effect.map(service.send({ method: request.method, path: `${pathname}${search}` }), ({ headers, status, text }) =>
      HttpClientResponse.fromWeb(request, new Response(text, { headers, status }))
    )
  )
)

it.layer(memoryCore, LIVE)("Text that was stored before the rule", (it) => {
  it.effect("is retrieved with its tool, as the contract declares it and the typed client reads it", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider({ endpoint_url: "http://127.0.0.1:1/mcp" })
      const schema = { type: "object", title: HIDDEN }
      const { stored } = yield* (yield* Catalog).upsert(ProviderId.make(provider.id), [
        { toolName: "/older" },
        { toolName: "older", displayName: HIDDEN, description: HIDDEN, category: "Older", inputSchema: schema }
      ])
      const client = yield* Effect.provideServiceEffect(
        make({ baseUrl: "http://127.0.0.1" }),
        HttpClient.HttpClient,
        throughTests
      )
      const read = (id: string) => Effect.map(client.catalog.tool({ params: { id } }), ({ declaration }) => declaration)
      assert.strictEqual((yield* read(stored[0]!.id)).tool_name, "/older")
      const { category, description, display_name, input_schema } = yield* read(stored[1]!.id)
      assert.deepStrictEqual([category, description, display_name, input_schema], ["Older", HIDDEN, HIDDEN, schema])
    })
  )

  it.effect("is shown with the characters' codes: on pages, to models, and as escapes in JSON", () =>
    Effect.gen(function* () {
      const provider = yield* aProvider({ endpoint_url: "http://127.0.0.1:1/mcp" })
      const { stored } = yield* (yield* Catalog).upsert(ProviderId.make(provider.id), [
        { toolName: "old", displayName: HIDDEN, description: `${HIDDEN} 👩\u200d🚀\r\n` }
      ])
      const { id } = stored[0]!
      const consumer = yield* aConsumer()
      yield* expecting(200, { path: "/api/market/toolbox", key: consumer.key, json: { tools: [id] } })
      const pages = [
        (yield* expecting(200, { path: `/catalog/${id}` })).text,
        (yield* expecting(200, { path: `/catalog?provider_id=${provider.id}` })).text,
        JSON.stringify(yield* toolCalled(consumer.key, "describe_tool", { tool: id })),
        JSON.stringify(yield* toolCalled(consumer.key, "search_tools")),
        JSON.stringify(yield* asked({ key: consumer.key, method: "tools/list" }))
      ]
      for (const page of pages) {
        assert.include(page, "ab[U+202E]c")
        assert.notInclude(page, "\u202e")
        assert.include(page, "👩\u200d🚀")
        assert.notInclude(page, "U+000D")
      }
      const { text } = yield* expecting(200, { path: `/api/market/catalog?provider_id=${provider.id}` })
      assert.include(text, String.raw`"ab\u202ec"`)
      assert.notInclude(text, "\u202e")
      assert.include(text, "👩\u200d🚀")
    })
  )
})

/**
 * Which tools are listed to which client: those that the provider's server lists to clients of its era with its capabilities.
 */
import { assert, describe, it } from "@effect/vitest"
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { Effect } from "effect"
import { aDeveloper, posted } from "../../support/market/HttpMarket.ts"
import { ALL_LISTING_CAPABILITIES, type ListClient } from "../../../domain/upstream/ProviderServers.ts"
import { serverAt } from "../../contracts/providerServers.ts"
import { type ChoosyTool, choosyServer, type Eras, LIST_META } from "../../support/mcp/servers/ChoosyServer.ts"
import { connected, rpc } from "../../support/mcp/LegacyClients.ts"
import { eventually, makeClient } from "../../support/mcp/McpClient.ts"
import { modernCall } from "../../support/mcp/ModernClient.ts"
import { everythingServer } from "../../support/mcp/servers/RealServers.ts"
import { ready } from "../../support/servers/ServiceProcess.ts"

type Names = ReadonlyArray<string>
type Capabilities = Readonly<Record<string, object>>
interface Listed {
  readonly tools: ReadonlyArray<Readonly<Record<string, unknown> & { readonly name: string }>>
  readonly _meta?: unknown
}

const service = ready({ PROFILE: "memory", LOG_LEVEL: "Error", DEMO_PROVIDER: "off", ALLOW_UPSTREAM: "loopback" })

const namesOf = (tools: ReadonlyArray<{ readonly name: string }>): Names => tools.map(({ name }) => name)

/** A provider whose tools are all imported and listed, and a consumer. */
const imported = Effect.fnUntraced(function* (serverUrl: string) {
  const { url } = yield* service
  const made = yield* posted(`${url}/api/market/register-provider`, {
    name: "Ada Tools",
    email: "ada@example.org",
    endpoint_url: serverUrl
  })
  const { tools } = yield* posted(
    `${url}/api/market/tools/import`,
    { apply: true, listed: true, default_price_microcents: 500 },
    String(made["api_key"])
  )
  const names = (tools as ReadonlyArray<{ readonly tool_name: string }>).map((one) => one.tool_name)
  return { url, door: `${url}/mcp/${String(made["provider_id"])}`, key: yield* aDeveloper(url), names }
})

const sdkLists = (door: string, key: string, capabilities: Capabilities) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { client } = yield* connected({ door, key }, { capabilities })
      return namesOf((yield* Effect.promise(() => client.listTools())).tools)
    })
  )

const modernList = (door: string, key: string, capabilities: Capabilities = {}) =>
  Effect.promise(async () => {
    const { headers, json } = modernCall({ key, method: "tools/list", capabilities })
    const answer = await rpc({ door, key }, json, headers as Record<string, string>)
    return ((await answer.json()) as { readonly result: Listed }).result
  })

const legacyList = (door: string, key: string, capabilities: Capabilities = {}) =>
  Effect.promise(async () => {
    const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "wire", version: "1" } }
    const opened = await rpc({ door, key }, { jsonrpc: "2.0", id: 0, method: "initialize", params })
    const session = { "mcp-session-id": String(opened.headers.get("mcp-session-id")) }
    await opened.text()
    const answer = await rpc({ door, key }, { jsonrpc: "2.0", id: 1, method: "tools/list" }, session)
    return ((await answer.json()) as { readonly result: Listed }).result
  })

describe("an import from server-everything", () => {
  it.live("finds the tools that need a capability, which are listed to the clients that have it, and run there", () =>
    Effect.gen(function* () {
      const { url: server } = yield* everythingServer
      const { door, key, names, url } = yield* imported(server)
      const conditional: Names = [
        "get-roots-list",
        "trigger-elicitation-request",
        "trigger-sampling-request",
        "trigger-url-elicitation"
      ]
      assert.includeMembers([...names], ["echo", ...conditional])
      const seenBy = (capabilities: Capabilities) =>
        Effect.map(sdkLists(door, key, capabilities), (all) => {
          assert.include(all, "echo")
          return all.filter((name) => conditional.includes(name)).toSorted()
        })
      assert.deepStrictEqual(yield* seenBy({}), [])
      assert.deepStrictEqual(yield* seenBy({ roots: {} }), ["get-roots-list"])
      assert.deepStrictEqual(yield* seenBy({ sampling: {} }), ["trigger-sampling-request"])
      assert.deepStrictEqual(yield* seenBy({ elicitation: {} }), ["trigger-elicitation-request"])
      assert.deepStrictEqual(
        yield* seenBy({ roots: {}, sampling: {}, elicitation: { form: {}, url: {} } }),
        conditional
      )

      yield* posted(`${url}/api/market/balance/load`, { amount_cents: 100 }, key)
      const { client } = yield* connected(
        { door, key },
        {
          capabilities: { roots: {} },
          prepare: (one) => one.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///ada" }] }))
        }
      )
      const called = yield* Effect.promise(() => client.callTool({ name: "get-roots-list", arguments: {} }))
      assert.include(JSON.stringify(called["content"]), "file:///ada")
    })
  )
})

const TOOLS: ReadonlyArray<ChoosyTool> = [
  { name: "both" },
  { name: "now", era: "modern" },
  { name: "then", era: "legacy" },
  { name: "asks", needs: "sampling" },
  { name: "plain", unless: "sampling" }
]

describe("a server of both eras", () => {
  it.live(
    "shows each client the list of its era and its capabilities, with `execution` and the list's own `_meta`",
    () =>
      Effect.gen(function* () {
        const server = yield* choosyServer(TOOLS, ["modern", "legacy"])
        const { door, key, names, url } = yield* imported(server.url)
        assert.sameMembers([...names], namesOf(TOOLS) as Array<string>)
        const [modern, legacy] = [yield* modernList(door, key), yield* legacyList(door, key)]
        assert.deepStrictEqual(namesOf(modern.tools), ["both", "now", "plain"])
        assert.deepStrictEqual(namesOf(legacy.tools), ["both", "then", "plain"])
        for (const { _meta } of [modern, legacy]) assert.deepStrictEqual(_meta, LIST_META)
        assert.deepStrictEqual(legacy.tools[0]?.["execution"], { taskSupport: "optional" })
        assert.match(String(legacy.tools[0]?.["description"]), /^legacy/u)
        assert.match(String(modern.tools[0]?.["description"]), /^modern/u)
        const sampling = { sampling: {} }
        assert.deepStrictEqual(namesOf((yield* modernList(door, key, sampling)).tools), ["both", "now", "asks"])
        assert.deepStrictEqual(namesOf((yield* legacyList(door, key, sampling)).tools), ["both", "then", "asks"])

        // Calls at the market's own door carry the capabilities of modern clients only.
        const ids = yield* Effect.promise(async () => {
          const found = await fetch(`${url}/api/market/catalog?limit=100`).then((one) => one.json())
          return (found as { readonly tools: ReadonlyArray<{ readonly id: string }> }).tools.map(({ id }) => id)
        })
        for (const id of ids) yield* posted(`${url}/api/v1/market/toolbox`, { tools: [id] }, key)
        const chosen = ({ tools }: Listed) =>
          namesOf(tools).flatMap((name) => (name.startsWith("ada-tools__") ? [name.slice("ada-tools__".length)] : []))
        const market = `${url}/mcp`
        assert.sameMembers(chosen(yield* modernList(market, key, sampling)) as Array<string>, ["both", "now", "asks"])
        assert.sameMembers(chosen(yield* legacyList(market, key, sampling)) as Array<string>, ["both", "now", "plain"])
      })
  )
})

describe("all tools of a server", () => {
  const anyOf = Effect.fnUntraced(function* (eras: Eras) {
    const server = yield* choosyServer(TOOLS, eras)
    const { servers } = yield* makeClient()
    const list = yield* servers.tools(serverAt(server.url), 60_000, "any")
    yield* servers.tools(serverAt(server.url), 60_000, "any")
    return { list, server, servers }
  })

  it.live("are those of some client, read with at most two further lists", () =>
    Effect.gen(function* () {
      for (const [eras, names, reads] of [
        [["modern", "legacy"], ["both", "now", "plain", "asks", "then"], 4],
        [["modern"], ["both", "now", "plain", "asks"], 3],
        [["legacy"], ["both", "then", "plain", "asks"], 2]
      ] as const) {
        const { list, server } = yield* anyOf(eras)
        assert.deepStrictEqual(namesOf(list.tools), [...names])
        assert.isFalse(list.truncated)
        // The handshake with a modern server reads its list too, for the headers of its tools.
        assert.strictEqual(server.of("tools/list").length, reads)
        // The session that served the list alone has ended.
        const ended = () => server.seen.filter(({ http }) => http === "DELETE").length
        yield* eventually(() => ended() === ((eras as Eras).includes("legacy") ? 1 : 0))
      }
    })
  )

  it.live("may be more than were read while the server does not answer a client with capabilities", () =>
    Effect.gen(function* () {
      let down = false
      const server = yield* choosyServer(TOOLS, ["legacy"], () => down)
      const { servers } = yield* makeClient()
      yield* servers.tools(serverAt(server.url), 60_000)
      down = true
      const list = yield* servers.tools(serverAt(server.url), 60_000, "any")
      assert.deepStrictEqual([namesOf(list.tools), list.truncated], [["both", "then", "plain"], true])
    })
  )

  it.live("of one kind of client are one list for all its clients, of whatever other capabilities", () =>
    Effect.gen(function* () {
      const server = yield* choosyServer(TOOLS, ["legacy"])
      const { servers } = yield* makeClient()
      const capable: ListClient = { inSession: true, capabilities: ALL_LISTING_CAPABILITIES }
      const some = yield* Effect.all(
        Array.from({ length: 20 }, () => servers.tools(serverAt(server.url), 60_000, capable)),
        { concurrency: "unbounded" }
      )
      assert.isTrue(some.every((list) => list === some[0]))
      assert.strictEqual(server.of("tools/list").length, 1)
    })
  )
})

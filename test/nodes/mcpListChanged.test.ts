/**
 * Clients that listen at one node learn what changes at another: the toolbox, a price, and the tools that a provider imports;
 * and what they then read there is new. With the official clients of both eras.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import { event, json, result, scriptedServer, stream, text } from "../../testing/mcp/ScriptedServer.ts"
import { aDeveloper, posted } from "../support/market/HttpMarket.ts"
import { eventsOf } from "../support/mcp/servers/GatedServer.ts"
import { aLegacyDoor, aPricedTool } from "../support/mcp/LegacyClients.ts"
import { aSession } from "../support/mcp/LegacyWire.ts"
import { eventually } from "../support/mcp/McpClient.ts"
import { type AnyClient, type Connect, OFFICIAL_CLIENTS } from "../support/mcp/OfficialClients.ts"
import { sdk2Server } from "../support/mcp/servers/RealServers.ts"
import { aNode, SteadyNode } from "../support/mcp/TwoNodes.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"

const OWN_TOOLS = 5

const aTool = (description: string) => ({ name: "echo", description, inputSchema: { type: "object" } })

/** A provider's server whose only tool can be changed, imported at `url`. */
const imported = Effect.fnUntraced(function* (url: string) {
  const listing = { tools: [aTool("Repeats.")] }
  const server = yield* sdk2Server({ legacy: "reject", list: () => listing })
  const made = yield* posted(`${url}/api/market/register-provider`, {
    name: "Echo Works",
    email: "echo@example.org",
    endpoint_url: server.url
  })
  const key = String(made["api_key"])
  const importNow = posted(
    `${url}/api/market/tools/import`,
    { default_price_microcents: 2_000, listed: true, apply: true },
    key
  )
  const first = yield* importNow
  assert.lengthOf(first["tools"] as ReadonlyArray<unknown>, 1)
  const priced = (price: number) =>
    posted(`${url}/api/market/tools`, { tools: [{ tool_name: "echo", price_microcents: price }] }, key)
  return { handle: String(made["handle"]), importNow, listing, priced }
})

/** Done here, and told there; what is read there then is new. */
const tellingOf = (client: AnyClient, changes: () => number) => {
  const isRead = Effect.fnUntraced(function* (shown: string) {
    for (let read = ""; !read.includes(shown);) {
      read = yield* Effect.promise(() => client.descriptions())
      yield* Effect.sleep("20 millis")
    }
  })
  const heard = (before: number) => Effect.repeat(Effect.sleep("20 millis"), { until: () => changes() > before })
  return {
    isTold: Effect.fnUntraced(function* (change: Effect.Effect<unknown>, shown: string) {
      const before = changes()
      yield* change
      yield* heard(before)
      yield* isRead(shown)
    }),
    /** A client's stream may open after `connect`: the change is made and undone until the client hears of it. */
    isToldOnceItListens: Effect.fnUntraced(function* (
      change: Effect.Effect<unknown>,
      undone: Effect.Effect<unknown>,
      shown: string
    ) {
      while (changes() === 0) {
        yield* undone
        yield* change
        yield* Effect.timeoutOption(heard(0), "2 seconds")
      }
      yield* isRead(shown)
    })
  }
}

/** A provider and a developer at one node; `listen` connects the developer's client to another. */
const apart = Effect.gen(function* () {
  const here = yield* SteadyNode
  const there = yield* aNode
  const provider = yield* imported(here.url)
  const key = yield* aDeveloper(here.url)
  const listen = Effect.fnUntraced(function* (connect: Connect, path: string) {
    let changes = 0
    const client = yield* Effect.acquireRelease(
      Effect.promise(() => connect(there.url + path, key, () => void changes++)),
      ({ close }) => Effect.promise(close)
    )
    return { client, ...tellingOf(client, () => changes) }
  })
  return { ...provider, here, key, listen }
})

it.layer(SteadyNode.layer, { ...LIVE, timeout: "90 seconds" })("A client that listens at another node", (it) => {
  for (const [name, connect] of OFFICIAL_CLIENTS) {
    it.effect(
      `learns of the toolbox, prices and imports: ${name}`,
      () =>
        Effect.gen(function* () {
          const { handle, here, importNow, key, listen, listing, priced } = yield* apart
          const { client, isTold } = yield* listen(connect, "/mcp")
          assert.lengthOf(yield* Effect.promise(() => client.names()), OWN_TOOLS)
          yield* isTold(posted(`${here.url}/api/market/toolbox`, { tools: [`${handle}/echo`] }, key), "Costs $0.002")
          yield* isTold(priced(1_000), "Costs $0.001")
          listing.tools = [aTool("Repeats everything.")]
          yield* isTold(importNow, "Repeats everything.")
          listing.tools = [aTool("Repeats twice.")]
          yield* isTold(importNow, "Repeats twice.")
        }),
      120_000
    )
  }

  for (const [name, connect] of OFFICIAL_CLIENTS) {
    it.effect(
      `learns of prices and imports at a provider's endpoint: ${name}`,
      () =>
        Effect.gen(function* () {
          const { handle, importNow, listen, listing, priced } = yield* apart
          const { client, isTold, isToldOnceItListens } = yield* listen(connect, `/mcp/${handle}`)
          assert.deepStrictEqual(yield* Effect.promise(() => client.names()), ["echo"])
          yield* isToldOnceItListens(priced(1_000), priced(1_500), "Costs $0.001")
          listing.tools = [aTool("Repeats everything.")]
          yield* isTold(importNow, "Repeats everything.")
        }),
      120_000
    )
  }

  it.effect("learns what the provider's server announces, at the node where it listens last", () =>
    Effect.gen(function* () {
      const there = yield* SteadyNode
      const here = yield* aNode
      const upstream: Array<ServerResponse> = []
      const server = yield* scriptedServer({
        era: "stateful",
        onCall: (seen, response) => json(response, result(seen, text("done"))),
        onOther: (seen, response) => {
          if (seen.http !== "GET") return false
          upstream.push(stream(response))
          response.flushHeaders()
          return true
        }
      })
      const opened = yield* aLegacyDoor(here.url, server.url, [aPricedTool("echo", { unlisted: true })])
      const session = yield* aSession(opened)
      const announce = () =>
        upstream.at(-1)!.write(event({ jsonrpc: "2.0", method: "notifications/tools/list_changed" }))
      const listening = (url: string) =>
        Effect.promise(async () => {
          const headers = { ...session, authorization: `Bearer ${opened.key}`, accept: "text/event-stream" }
          const response = await fetch(opened.door.replace(here.url, url), { headers })
          assert.strictEqual(response.status, 200)
          return eventsOf(response)
        })
      const first = yield* listening(there.url)
      yield* eventually(() => upstream.length === 1)
      announce()
      yield* eventually(() => first.events.length === 1)
      assert.include(first.events[0]!.data, "notifications/tools/list_changed")

      const second = yield* listening(here.url)
      yield* eventually(() => first.ended && upstream.length === 2)
      announce()
      yield* eventually(() => second.events.length === 1)
      assert.lengthOf(first.events, 1)
    })
  )
})

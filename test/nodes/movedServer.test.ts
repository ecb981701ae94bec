/**
 * A provider moves its server at one node: calls at another go to the new one, and clients that listen there connect again.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import { json, result, type Script, scriptedServer, stream, text } from "../../testing/mcp/ScriptedServer.ts"
import { posted } from "../support/market/HttpMarket.ts"
import { fine, onOther } from "../support/mcp/ADoor.ts"
import { opened } from "../support/mcp/DoorClient.ts"
import { eventsOf } from "../support/mcp/servers/GatedServer.ts"
import { aLegacyDoor, aPricedTool, type LegacyDoor, rpc } from "../support/mcp/LegacyClients.ts"
import { aSession, call } from "../support/mcp/LegacyWire.ts"
import { eventually } from "../support/mcp/McpClient.ts"
import { aNode, SteadyNode } from "../support/mcp/TwoNodes.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"

const TOOL = aPricedTool("echo", { unlisted: true })

const moved = (door: LegacyDoor & { readonly providerKey: string }, to: string) =>
  posted(`${door.url}/api/v1/market/providers/profile`, { endpoint_url: to, unlisted: true }, door.providerKey)

/** A provider at one node, as its clients see it at another. */
const apart = Effect.fnUntraced(function* (script: Script) {
  const [here, other] = [yield* SteadyNode, yield* aNode]
  const [before, after] = [yield* scriptedServer(script), yield* scriptedServer(script)]
  const door = yield* aLegacyDoor(here.url, before.url, [TOOL])
  const there: LegacyDoor = { ...door, url: other.url, door: door.door.replace(here.url, other.url) }
  return { after, before, door, there }
})

it.layer(SteadyNode.layer, { ...LIVE, timeout: "90 seconds" })(
  "A provider's server that moved at another node",
  (it) => {
    it.effect("ends the sessions and streams of the former one, and gets the next calls", () =>
      Effect.gen(function* () {
        const streams: Array<ServerResponse> = []
        const { after, before, door, there } = yield* apart({
          era: "stateful",
          onCall: (seen, response) => json(response, result(seen, text("done"))),
          onOther: (seen, response) => {
            if (seen.http !== "GET") return false
            streams.push(stream(response))
            response.flushHeaders()
            return true
          }
        })
        const session = yield* aSession(there)
        const asked = () => Effect.promise(async () => (await rpc(there, call("echo"), session)).status)
        assert.strictEqual(yield* asked(), 200)
        const headers = { ...session, authorization: `Bearer ${there.key}`, accept: "text/event-stream" }
        const listening = eventsOf(yield* Effect.promise(() => fetch(there.door, { headers })))
        yield* eventually(() => streams.length === 1)
        yield* moved(door, after.url)
        yield* eventually(() => listening.ended)
        yield* Effect.repeat(asked(), { until: (status) => status === 404 }).pipe(Effect.timeout("10 seconds"))
        const calls = before.of("tools/call").length
        const anew = yield* aSession(there)
        assert.strictEqual((yield* Effect.promise(() => rpc(there, call("echo"), anew))).status, 200)
        assert.deepStrictEqual([before.of("tools/call").length, after.of("tools/call").length], [calls, 1])
      })
    )

    it.effect("ends the subscriptions of clients of the modern era", () =>
      Effect.gen(function* () {
        const { after, before, door, there } = yield* apart({
          era: "modern",
          onCall: fine,
          onOther: (seen, response) => {
            if (seen.method !== "subscriptions/listen") return onOther!(seen, response)
            stream(response).flushHeaders()
            return true
          }
        })
        const asked = {
          url: there.door,
          key: there.key,
          method: "subscriptions/listen",
          params: { notifications: { promptsListChanged: true } },
          id: "sub"
        }
        const listening = eventsOf(yield* opened(asked))
        yield* eventually(() => before.of("subscriptions/listen").length === 1)
        assert.isFalse(listening.ended)
        yield* moved(door, after.url)
        yield* eventually(() => listening.ended)
        assert.include(listening.events.at(-1)!.data, '"resultType":"complete"')
      })
    )
  }
)

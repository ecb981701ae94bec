/**
 * Keys that are revoked or expire while their clients are connected: every request is rejected from then on, streams end,
 * and what was paid for goes on.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { json, result, text } from "../../../testing/mcp/ScriptedServer.ts"
import { posted } from "../../support/load/LoadMarket.ts"
import { at, billingOf, opened } from "../../support/mcp/DoorClient.ts"
import { aClientOf, aServerOf } from "../../support/mcp/EitherEra.ts"
import { eventsOf } from "../../support/mcp/servers/GatedServer.ts"
import { eventually } from "../../support/mcp/McpClient.ts"
import {
  aConsumer,
  aDoor,
  aProvider,
  base,
  ECHO_CALL,
  funded,
  PRICE,
  stripeService
} from "../../support/mcp/StripeDoors.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

/** Enough for some requests on a busy machine. */
const SHORT_SECONDS = 8

it.layer(stripeService, LIVE)("A door rejects", (it) => {
  it.effect(
    "a key that was revoked or has expired, in the middle of a legacy session; the account's other keys go on",
    () =>
      Effect.gen(function* () {
        const { calls, server, url } = yield* aDoor("legacy")
        const first = yield* aConsumer()
        yield* funded(first)
        const keys = `${yield* base}/api/v1/market/keys`
        const second = yield* posted(keys, {}, first)
        const soon = new Date(Date.now() + SHORT_SECONDS * 1_000).toISOString()
        const third = yield* posted(keys, { expires_at: soon }, first)
        const revoked = String(second["api_key"])
        const expired = String(third["api_key"])
        const client = yield* aClientOf("legacy", url, revoked)
        // One account has one set of sessions, whatever the key.
        for (const key of [first, revoked, expired]) {
          assert.strictEqual((yield* client.send("tools/call", ECHO_CALL, { key })).status, 200)
        }
        const { key_id: id } = second["key"] as { readonly key_id: string }
        const removed = yield* Effect.promise(() =>
          fetch(`${keys}/${id}`, { method: "DELETE", headers: { authorization: `Bearer ${first}` } })
        )
        assert.strictEqual(removed.status, 200)
        yield* Effect.sleep(Math.max(0, Date.parse(soon) - Date.now()) + 100)

        const before = server.seen.length
        for (const key of [revoked, expired]) {
          const headers = { ...client.session, authorization: `Bearer ${key}`, accept: "text/event-stream" }
          for (const answer of [
            yield* client.send("tools/call", ECHO_CALL, { key }),
            yield* client.send("tools/list", {}, { key }),
            yield* client.send("notifications/cancelled", { requestId: 1 }, { key }),
            ...(yield* Effect.forEach(["GET", "DELETE"], (method) =>
              Effect.promise(() => fetch(url, { method, headers }))
            ))
          ]) {
            assert.strictEqual(answer.status, 401)
            assert.match(answer.headers.get("www-authenticate") ?? "", /^Bearer/u)
          }
        }
        assert.lengthOf(server.seen, before, "nothing reaches the provider")
        assert.strictEqual(calls(), 3)
        const goesOn = yield* client.send("tools/call", ECHO_CALL, { key: first })
        assert.strictEqual(at(billingOf(goesOn), "cost_microcents"), PRICE, "the session is the account's")
      })
  )

  it.effect("to keep streams open under a key that was revoked or has expired; a call under it runs to its end", () =>
    Effect.gen(function* () {
      let finish: (() => void) | undefined
      const server = yield* aServerOf("modern", (seen, response) => {
        finish = () => json(response, result(seen, text("done")))
      })
      const { url } = yield* aProvider(server.url)
      const first = yield* aConsumer()
      yield* funded(first)
      const market = `${yield* base}/mcp`
      const keys = `${yield* base}/api/v1/market/keys`
      const revoked = yield* posted(keys, {}, first)
      const streamsOf = Effect.fnUntraced(function* (key: string) {
        const { session } = yield* aClientOf("legacy", market, key)
        const headers = { ...session, authorization: `Bearer ${key}`, accept: "text/event-stream" }
        const legacy = yield* Effect.promise(() => fetch(market, { headers }))
        const params = { notifications: { toolsListChanged: true } }
        const modern = yield* opened({ url: market, key, method: "subscriptions/listen", params })
        return [eventsOf(legacy), eventsOf(modern)] as const
      })
      const [own, ofRevoked] = [yield* streamsOf(first), yield* streamsOf(String(revoked["api_key"]))]
      const soon = new Date(Date.now() + SHORT_SECONDS * 1_000).toISOString()
      const expires = yield* posted(keys, { expires_at: soon }, first)
      const ofExpired = yield* streamsOf(String(expires["api_key"]))
      const caller = yield* aClientOf("modern", url, String(revoked["api_key"]))
      const calling = yield* Effect.forkChild(caller.send("tools/call", ECHO_CALL))
      yield* eventually(() => finish !== undefined)

      const { key_id: id } = revoked["key"] as { readonly key_id: string }
      const headers = { authorization: `Bearer ${first}` }
      yield* Effect.promise(() => fetch(`${keys}/${id}`, { method: "DELETE", headers }))
      yield* eventually(() => ofRevoked.every(({ ended }) => ended))
      assert.include(ofRevoked[1].events.at(-1)!.data, "This API key was revoked.")
      yield* eventually(() => ofExpired.every(({ ended }) => ended))
      assert.include(ofExpired[1].events.at(-1)!.data, "This API key has expired.")
      assert.isAtLeast(Date.now(), Date.parse(soon))
      for (const { ended, failed } of own) assert.isFalse(ended || failed, "the account's other key goes on")

      finish!()
      assert.strictEqual(at(billingOf(yield* Fiber.join(calling)), "cost_microcents"), PRICE)
    })
  )
})

/**
 * How many sessions and open streams an account may have at a door, and what gives one back: a client that disconnects, and
 * the end of the session. One account's use is not another's.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { STREAMS_PER_ACCOUNT_MAX } from "../../../adapters/http/pipeline/WebRequest.ts"
import { SESSIONS_PER_ACCOUNT_MAX } from "../../../domain/mcp/McpSessions.ts"
import { RawHttp } from "../../support/servers/RawHttp.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"
import { aFundedConsumer } from "../../support/load/LoadMarket.ts"
import { SETTINGS } from "../../support/mcp/ADoor.ts"
import { opened } from "../../support/mcp/DoorClient.ts"
import { rpc } from "../../support/mcp/LegacyClients.ts"
import { aSession } from "../../support/mcp/LegacyWire.ts"

type Headers = Readonly<Record<string, string>>

const anAccount = Effect.gen(function* () {
  const { port } = yield* RawHttp
  const url = `http://127.0.0.1:${port}`
  const key = yield* aFundedConsumer(url, 0)
  const door = { url, door: `${url}/mcp`, key }
  const ping = (session: Headers) =>
    Effect.promise(async () => (await rpc(door, { jsonrpc: "2.0", id: 1, method: "ping" }, session)).status)
  const ended = (session: Headers) =>
    Effect.promise(async () => {
      const headers = { ...session, authorization: `Bearer ${key}` }
      assert.strictEqual((await fetch(door.door, { method: "DELETE", headers })).status, 204)
    })
  /** The GET stream of a session. */
  const listening = (session: Headers) =>
    Effect.promise(async () => {
      const connection = new AbortController()
      const headers = { ...session, authorization: `Bearer ${key}`, accept: "text/event-stream" }
      const response = await fetch(door.door, { headers, signal: connection.signal })
      return { response, close: () => connection.abort() }
    })
  return { door, session: aSession(door), ping, ended, listening }
})

/** A client that was told to retry does so. */
const acceptedSoon = <A extends { readonly response: Response }>(listening: Effect.Effect<A>) =>
  Effect.gen(function* () {
    for (;;) {
      const one = yield* listening
      if (one.response.status === 200) return one
      yield* Effect.promise(() => one.response.text())
      yield* Effect.sleep("20 millis")
    }
  })

it.layer(RawHttp.layer({ ...SETTINGS, RATE_LIMIT_RPM: "0" }), LIVE)("An account at a door", (it) => {
  it.effect(`has at most ${STREAMS_PER_ACCOUNT_MAX} open streams of both eras, until one of them ends`, () =>
    Effect.gen(function* () {
      const { door, ended, listening, session } = yield* anAccount
      const sessions = yield* Effect.replicateEffect(session, STREAMS_PER_ACCOUNT_MAX)
      const [spare, ...listened] = sessions
      const streams = yield* Effect.forEach(listened, listening)
      for (const { response } of streams) {
        assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
      }
      const subscription = {
        url: door.door,
        key: door.key,
        method: "subscriptions/listen",
        params: { notifications: { toolsListChanged: true } }
      }
      const connection = new AbortController()
      const subscribed = yield* opened({ ...subscription, signal: connection.signal })
      assert.strictEqual(subscribed.headers.get("content-type"), "text/event-stream")

      const { response: refused } = yield* listening(spare!)
      assert.strictEqual(refused.status, 429)
      const { error } = yield* Effect.promise(() => refused.json())
      assert.match(
        error.message,
        /Too many open streams: this account has 32, the maximum\. Close one, or retry after/u
      )
      assert.deepInclude(error.data, { code: "RATE_LIMITED", retry_after_ms: 10_000 })
      const late = yield* Effect.flatMap(opened(subscription), (response) => Effect.promise(() => response.text()))
      assert.include(late, "Too many open streams")
      const stranger = yield* anAccount
      const theirs = yield* stranger.listening(yield* stranger.session)
      assert.strictEqual(theirs.response.status, 200, "another account has its own")

      // A client that disconnects, the end of a session, and the end of a subscription give one back each.
      streams[0]!.close()
      const first = yield* acceptedSoon(listening(spare!))
      yield* ended(listened[1]!)
      const second = yield* acceptedSoon(Effect.flatMap(session, listening))
      connection.abort()
      const third = yield* acceptedSoon(Effect.flatMap(session, listening))
      const { response: still } = yield* Effect.flatMap(session, listening)
      assert.strictEqual(still.status, 429, "no more than were given back")
      for (const { close } of [...streams, first, second, third, theirs]) close()
    })
  )

  it.effect("has one stream for each session: the newest replaces the one before, and counts once", () =>
    Effect.gen(function* () {
      const { listening, session } = yield* anAccount
      const one = yield* session
      let before: Response | undefined
      for (let n = 0; n < 2 * STREAMS_PER_ACCOUNT_MAX; n++) {
        const { response } = yield* acceptedSoon(listening(one))
        if (before !== undefined) {
          const replaced = before
          yield* Effect.promise(() => replaced.text())
        }
        before = response
      }
      const others = yield* Effect.replicateEffect(session, STREAMS_PER_ACCOUNT_MAX - 1)
      const streams = yield* Effect.forEach(others, (other) => acceptedSoon(listening(other)))
      for (const { close } of streams) close()
      yield* Effect.promise(() => before!.body!.cancel())
    })
  )

  it.effect(`has at most ${SESSIONS_PER_ACCOUNT_MAX} sessions: the longest unused one ends for another`, () =>
    Effect.gen(function* () {
      const { ended, ping, session } = yield* anAccount
      const stranger = yield* anAccount
      const theirs = yield* stranger.session
      const sessions = yield* Effect.replicateEffect(session, SESSIONS_PER_ACCOUNT_MAX)
      for (const one of [sessions[0]!, sessions.at(-1)!]) assert.strictEqual(yield* ping(one), 200)
      const next = yield* session
      const states = yield* Effect.forEach([...sessions, next], ping)
      assert.lengthOf(
        states.filter((status) => status === 404),
        1
      )
      assert.strictEqual(yield* ping(next), 200)
      assert.strictEqual(yield* stranger.ping(theirs), 200, "another account's session goes on")

      // One that was ended makes room: no other one ends.
      yield* ended(next)
      assert.strictEqual(yield* ping(next), 404)
      yield* session
      const after = yield* Effect.forEach(sessions, ping)
      assert.deepStrictEqual(after, states.slice(0, -1))
    })
  )
})

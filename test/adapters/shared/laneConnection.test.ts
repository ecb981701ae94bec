/**
 * A lane's own connection when its peer goes silent.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as LaneConnection from "../../../adapters/sql/shared/LaneConnection.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"
import { aWay } from "../../support/servers/TcpProxy.ts"

const SILENCE_MS = 3_000
/** A tenth of the permitted silence. */
const SLOW_SECONDS = 0.3

const lane = Effect.gen(function* () {
  const database = new URL(Redacted.value((yield* PostgresTest).url))
  const way = yield* aWay(database.hostname, Number(database.port))
  const url = new URL(database)
  url.port = String(way.address.port)
  const connection = yield* LaneConnection.make(() => ({ url: Redacted.make(url.href) }), "test", SILENCE_MS)
  const ask = (seconds: number) => connection.query("SELECT $1::float8 FROM pg_sleep($1::float8)", [seconds])
  return { way, ask }
})

it.layer(PostgresTest.layerDatabase, LIVE)("A lane's connection", (it) => {
  it.effect("is closed when it is silent for too long, and the next statement uses another one", () =>
    Effect.gen(function* () {
      const { ask, way } = yield* lane
      assert.deepStrictEqual(yield* ask(0), [[0]])
      way.freeze()
      const startedAt = performance.now()
      const error = yield* Effect.flip(ask(0))
      const tookMs = performance.now() - startedAt
      assert.strictEqual(error.reason._tag, "ConnectionError")
      assert.isTrue(error.isRetryable)
      assert.isAtLeast(tookMs, SILENCE_MS)
      // Otherwise it would never end.
      assert.isBelow(tookMs, 10 * SILENCE_MS)
      assert.deepStrictEqual(yield* ask(0), [[0]])
    })
  )

  it.effect("is kept during a statement that is slow but not too slow, and while idle", () =>
    Effect.gen(function* () {
      const { ask } = yield* lane
      assert.deepStrictEqual(yield* ask(SLOW_SECONDS), [[SLOW_SECONDS]])
      yield* Effect.sleep(1.5 * SILENCE_MS)
      assert.deepStrictEqual(yield* ask(0), [[0]])
    })
  )
})

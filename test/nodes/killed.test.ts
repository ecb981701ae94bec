/**
 * Three nodes behind a balancer, under load, while each is killed and restarted in turn: nothing is lost, no request
 * waits for a dead node, the others end its open calls, and there is one log all the while.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { callLoad } from "../support/load/CallLoad.ts"
import { echoProvider } from "../support/load/EchoProvider.ts"
import { Fleet } from "../support/load/Fleet.ts"
import { booksAfter } from "../support/load/LoadAudit.ts"
import { loadMarket, walletOf } from "../support/load/LoadMarket.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { connectedTo } from "../support/servers/TestDatabases.ts"

const CONNECTIONS = 64

const onTheDatabase = <A, E>(use: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.flatMap(PostgresTest, ({ url }) => connectedTo(url)(use))

/** The log as a node returns it; undefined from a node that is down. */
const checkpointAt = (url: string) =>
  Effect.promise(() =>
    fetch(`${url}/api/v1/market/log/checkpoint`).then(
      async (response) => {
        if (response.status !== 200) return undefined
        const [origin = "", size = "", root = ""] = (await response.text()).split("\n")
        return { origin, size: Number(size), root }
      },
      () => undefined
    )
  )

it.layer(Fleet.layer, { ...LIVE, timeout: "90 seconds" })("three nodes under load from 64 connections", (it) => {
  it.effect(
    "of which each is killed once lose nothing that was acknowledged, and keep one log",
    () =>
      Effect.gen(function* () {
        const { balancer, command, nodes, url } = yield* Fleet
        const provider = yield* echoProvider
        provider.answerAfter(20)
        const market = yield* loadMarket(url, provider)
        const load = yield* callLoad({ ...market, url, connections: CONNECTIONS })
        const { acknowledged } = load.heard
        const flows = Effect.suspend(() => {
          const enough = acknowledged.length + 2 * CONNECTIONS
          return until(
            "calls are answered",
            Effect.sync(() => acknowledged.length >= enough)
          )
        })
        const roots = new Map<number, string>()
        const sizes = [0, 0, 0]
        const watch = Effect.gen(function* () {
          for (const [n, node] of nodes.entries()) {
            const seen = yield* checkpointAt(node.url)
            if (seen === undefined) continue
            assert.isAtLeast(seen.size, sizes[n]!, "a log never shrinks")
            sizes[n] = seen.size
            const known = roots.get(seen.size) ?? seen.root
            assert.strictEqual(seen.root, known, `two logs of ${seen.size} receipts`)
            roots.set(seen.size, known)
          }
        })
        const watching = yield* Effect.forkScoped(Effect.forever(Effect.andThen(watch, Effect.sleep(50))))

        yield* flows
        assert.isTrue(
          [0, 1, 2].every((n) => (balancer.taken[n] ?? 0) > 0),
          `each has connections: ${balancer.taken.join()}`
        )
        for (const [n, node] of nodes.entries()) {
          yield* node.kill
          const startedAt = performance.now()
          yield* flows
          const tookMs = Math.round(performance.now() - startedAt)
          yield* Effect.log(`node ${n + 1} killed; ${2 * CONNECTIONS} more calls after ${tookMs} ms`)
          yield* node.start
          yield* flows
        }
        const heard = yield* load.stop
        assert.isUndefined(watching.pollUnsafe(), "the log was one while it was watched")
        assert.deepStrictEqual(heard.unclean, [])

        const evidence = { acknowledged, provider }
        const found = yield* onTheDatabase(booksAfter(evidence))
        assert.deepStrictEqual(found.findings, [])
        yield* Effect.log(found, Object.fromEntries(heard.statuses), {
          lost: heard.lost,
          repeated: heard.repeated,
          checkpoints: roots.size
        })

        yield* onTheDatabase(
          Effect.flatMap(
            SqlClient.SqlClient,
            (sql) => sql`UPDATE calls_open SET deadline_at = now() - interval '1 second'`
          )
        )
        yield* until(
          "the open calls of dead nodes have ended",
          Effect.map(
            Effect.forEach(market.buyers, (key) => walletOf(url, key)),
            (wallets) => wallets.every(({ held }) => held === 0)
          )
        )
        const swept = yield* onTheDatabase(booksAfter(evidence))
        assert.deepStrictEqual([swept.findings, swept.open, swept.charged], [[], 0, found.charged])
        yield* until(
          "every receipt is in the log",
          Effect.map(checkpointAt(url), (last) => last?.size === swept.receipts)
        )
        const logs = yield* onTheDatabase(
          Effect.flatMap(SqlClient.SqlClient, (sql) => sql<{ readonly size: bigint }>`SELECT size FROM receipt_logs`)
        )
        assert.deepStrictEqual(logs, [{ size: BigInt(swept.receipts) }])
        const check = yield* command("fsck")
        assert.strictEqual(check.code, 0, check.output + check.problem)
        yield* Effect.log(check.output)
      }),
    240_000
  )
})

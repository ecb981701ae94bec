/**
 * `kill -9` of the service, of its PostgreSQL, of both, repeatedly under load; then the audit. `CRASH_ROUNDS` sets
 * how often (`npm run crash`: 20 times).
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Random } from "effect"
import { SqlClient } from "effect/sql"
import {
  anotherServerThan,
  client,
  isAlive,
  kill,
  makeTemplate,
  serverPid,
  startAnd,
  type Template,
  until
} from "../support/servers/EmbeddedFolders.ts"
import { callLoad } from "../support/load/CallLoad.ts"
import { echoProvider } from "../support/load/EchoProvider.ts"
import { booksAfter, type Evidence } from "../support/load/LoadAudit.ts"
import { loadMarket, OPEN_TO_LOAD, walletOf } from "../support/load/LoadMarket.ts"
import { freePort } from "../support/servers/FreePort.ts"
import { finished, ready } from "../support/servers/ServiceProcess.ts"

const ROUNDS = Number(process.env["CRASH_ROUNDS"] ?? 3)
const VICTIMS = ["the service", "the database", "both"] as const
const CONNECTIONS = 64
const SECONDS_A_ROUND_MAX = 60

let template: Template
beforeAll(async () => {
  template = await makeTemplate()
})
afterAll(() => template.remove())

const onItsDatabase = <A, E>(dataDir: string, use: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  startAnd(dataDir, ({ url }) =>
    Effect.scoped(Effect.flatMap(client(url), (sql) => Effect.provideService(use, SqlClient.SqlClient, sql)))
  )

const books = (dataDir: string, evidence: Evidence) => onItsDatabase(dataDir, booksAfter(evidence))

const timePassesForOpenCalls = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`UPDATE calls_open SET deadline_at = now() - interval '1 second'`
)

describe.each(["1", "2"])("under load from 64 connections, WORKERS=%s", (WORKERS) => {
  it.live(
    `the service and its database are killed ${ROUNDS} times: every acknowledged call exists, once`,
    () =>
      Effect.gen(function* () {
        const dataDir = yield* template.copy
        const provider = yield* echoProvider
        const PORT = String(yield* freePort)
        const url = `http://127.0.0.1:${PORT}`
        const started = ready({ ...OPEN_TO_LOAD, WORKERS, DATA_DIR: dataDir, PORT, LOG_LEVEL: "Error" })
        let service = yield* started
        const market = yield* loadMarket(url, provider)
        const load = yield* callLoad({ ...market, url, connections: CONNECTIONS })
        const { acknowledged } = load.heard
        const flows = Effect.suspend(() => {
          const enough = acknowledged.length + CONNECTIONS
          return until(
            "calls are answered again",
            Effect.sync(() => acknowledged.length >= enough)
          )
        })

        yield* flows
        for (let round = 0; round < ROUNDS; round++) {
          const victim = VICTIMS[round % VICTIMS.length]!
          const before = acknowledged.length
          yield* Effect.sleep(yield* Random.nextBetween(200, 1_200))
          const startedAt = performance.now()
          const database = yield* serverPid(dataDir)
          if (victim !== "the database") yield* kill(service.child, "SIGKILL")
          if (victim !== "the service") process.kill(database, "SIGKILL")
          if (victim === "the database") yield* anotherServerThan(database, dataDir)
          else service = yield* started
          yield* flows
          assert.isTrue(isAlive(service.pid), service.problem())
          const tookMs = Math.round(performance.now() - startedAt)
          yield* Effect.log(
            `round ${round + 1}: ${victim}; flows again after ${tookMs} ms; ${acknowledged.length - before} calls`
          )
        }
        const heard = yield* load.stop
        yield* kill(service.child, "SIGTERM")
        assert.deepStrictEqual(heard.unclean, [])

        const evidence = { acknowledged, provider }
        const found = yield* books(dataDir, evidence)
        assert.deepStrictEqual(found.findings, [])
        assert.isAtLeast(found.charged, acknowledged.length)
        yield* Effect.log(found, Object.fromEntries(heard.statuses), { lost: heard.lost, repeated: heard.repeated })

        // The sweeper ends the open calls of dead processes after their deadline: all holds are released.
        yield* onItsDatabase(dataDir, timePassesForOpenCalls)
        const last = yield* started
        yield* until(
          "no hold is left",
          Effect.map(
            Effect.forEach(market.buyers, (key) => walletOf(url, key)),
            (wallets) => wallets.every(({ held }) => held === 0)
          )
        )
        yield* kill(last.child, "SIGTERM")
        const swept = yield* books(dataDir, evidence)
        assert.deepStrictEqual([swept.findings, swept.open], [[], 0])
        assert.strictEqual(swept.charged, found.charged, "a call that the sweeper ends costs nothing")
        const check = yield* finished(["fsck", "--data-dir", dataDir])
        assert.strictEqual(check.code, 0, check.output + check.problem)
        yield* Effect.log(check.output)
      }),
    60_000 + ROUNDS * SECONDS_A_ROUND_MAX * 1_000
  )
})

/**
 * A dump during calls, restored into an empty database, as in docs/backup.md.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { join } from "node:path"
import { until } from "../support/servers/EmbeddedFolders.ts"
import {
  aWitness,
  continues,
  isSound,
  backupMarket,
  LOG_KEY,
  moreCalls,
  NEXT_LOG_KEY,
  OPEN_LOAD,
  PRICE
} from "../support/backup/BackupMarket.ts"
import { NO_TOOLS, tool, toolsHere } from "../support/backup/PostgresTools.ts"
import { walletOf } from "../support/load/LoadMarket.ts"
import { temporaryFolder } from "../support/servers/ServiceProcess.ts"
import { temporaryPostgres } from "../support/servers/TemporaryPostgres.ts"
import { connectedTo, createDatabase, urlOf } from "../support/servers/TestDatabases.ts"

it.live(
  "pg_dump under load, pg_restore: the ledger is sound, and the service continues",
  (ctx) =>
    Effect.gen(function* () {
      const programs = toolsHere()
      if (programs === undefined) return ctx.skip(NO_TOOLS)
      const server = yield* temporaryPostgres({ programs })
      const [database, restored] = yield* Effect.forEach(["market", "restored"], (name) =>
        createDatabase(name, "template0").pipe(
          connectedTo(server.url),
          Effect.as(urlOf({ adminUrl: Redacted.value(server.url) }, name))
        )
      )
      const file = join(yield* temporaryFolder, "market.dump")
      const market = yield* backupMarket(database!)
      const witness = yield* aWitness

      const load = yield* market.load
      yield* moreCalls(load)
      const before = [...load.heard.acknowledged]
      yield* tool(join(programs, "pg_dump"), database!, "--format=custom", `--file=${file}`)
      yield* moreCalls(load)
      const { acknowledged } = yield* load.stop
      // What the restored database does not contain: calls, a log that grew, a checkout that was paid.
      const seen = yield* witness.look(market.url, 1)
      assert.strictEqual(seen.code, 0, seen.problem)
      market.double.pay(market.open.session)
      yield* market.kill

      yield* tool(join(programs, "pg_restore"), restored!, "--exit-on-error", "--no-owner", "--no-privileges", file)
      const books = yield* isSound(restored!)
      assert.isAtLeast(books.receipts, before.length)
      assert.isBelow(books.receipts, acknowledged.length + 200)

      // Under the same key the log continues as a fork: a witness that saw the old one reports it.
      const fork = yield* continues(restored!, market, before, { logKey: LOG_KEY, logNumber: 1 })
      const refused = yield* witness.look(fork.url, 1)
      assert.strictEqual(refused.code, 1)
      assert.include(refused.problem, "The log is inconsistent")
      assert.include(yield* witness.evidence, "Seen before:")
      yield* fork.kill

      // Under a new key a new log starts, and a checkout that was paid meanwhile is found by polling.
      yield* Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`UPDATE loads SET updated_at = now() - interval '20 minutes' WHERE state = 'open'`
      ).pipe(connectedTo(restored!))
      const anew = yield* continues(restored!, market, before, { logKey: NEXT_LOG_KEY, logNumber: 2 })
      const accepted = yield* witness.look(anew.url, 2)
      assert.strictEqual(accepted.code, 0, accepted.problem)
      yield* until(
        "the load that was paid is credited",
        Effect.map(walletOf(anew.url, market.open.buyer), ({ balance }) => balance % PRICE === OPEN_LOAD % PRICE)
      )
      yield* anew.kill
      yield* isSound(restored!, NEXT_LOG_KEY)
    }),
  400_000
)

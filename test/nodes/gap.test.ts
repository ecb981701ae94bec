/**
 * A time without any primary, under load: the old one is killed, and the standby is promoted only after `GAP_SECONDS`
 * (default 12; docs/high-availability.md has the figures of 60). Callers get 503 promptly, nothing in the service grows
 * with the length of the gap, nothing that was acknowledged is lost, and calls resume.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { readdirSync } from "node:fs"
import { FAILURES_PER_SECOND_MAX, LINES_PER_SECOND_MAX } from "../../adapters/http/pipeline/stages/ProblemLog.ts"
import { until } from "../support/EmbeddedFolders.ts"
import { callLoad, isKeyed } from "../support/load/CallLoad.ts"
import { echoProvider } from "../support/load/EchoProvider.ts"
import { booksAfter } from "../support/load/LoadAudit.ts"
import { loadMarket, OPEN_TO_LOAD } from "../support/load/LoadMarket.ts"
import { residentMib } from "../support/load/Memory.ts"
import { replicaPair } from "../support/ReplicaPair.ts"
import { finished, ready } from "../support/ServiceProcess.ts"
import { connectedTo } from "../support/TestDatabases.ts"

const GAP_SECONDS = Number(process.env["GAP_SECONDS"] ?? 12)
/** Clients whose calls are in flight when the primary is lost. */
const CONNECTIONS = 64
/** Clients that come during the gap. */
const LATE_CONNECTIONS = 32
/** The service holds 60 MB. Far more, and it ends. */
const HEAP_MB_MAX = 160
/** A few each from more than a dozen jobs, requests and the change feed, for each half minute. */
const EVENTS_MAX = 120
/** Ten times what docs/high-availability.md promises. */
const RESUMED_MS_MAX = 50_000
const REFUSED_MS_MAX = 50_000

const settings = {
  RECEIPT_SIGNING_SECRET: "the secret of a service on two servers",
  LOG_SIGNING_KEY: "9a90".repeat(16),
  PAYMENTS: "dry_run"
}

it.live(
  "a gap without a primary costs callers a 503, and nothing that was acknowledged",
  () =>
    Effect.gen(function* () {
      const pair = yield* replicaPair({ isSynchronous: true })
      const DATABASE_URL = Redacted.value(pair.url)
      const node = yield* ready({
        ...OPEN_TO_LOAD,
        ...settings,
        DATABASE_URL,
        LOG_FORMAT: "json",
        ACCESS_LOG_RATIO: "0",
        NODE_OPTIONS: `--max-old-space-size=${HEAP_MB_MAX}`
      })
      const held = () => ({
        residentMib: Math.round(residentMib(node.pid)),
        // Sockets and pipes.
        files: readdirSync(`/proc/${node.pid}/fd`).length,
        lines: node.output().split("\n").length
      })
      const provider = yield* echoProvider
      provider.answerAfter(20)
      const market = yield* loadMarket(node.url, provider)
      const patient = { ...market, url: node.url, patienceMs: 2 * GAP_SECONDS * 1_000 + 60_000 }
      const load = yield* callLoad({ ...patient, connections: CONNECTIONS })
      yield* until(
        "calls are answered",
        Effect.sync(() => load.heard.acknowledged.length > 10 * CONNECTIONS)
      )

      const before = held()
      yield* pair.signalPrimary("SIGKILL")
      const killedMs = performance.now()
      const late = yield* callLoad({ ...patient, connections: LATE_CONNECTIONS })
      yield* until(
        "those who come are told to retry, and the provider has answered what reached it",
        Effect.sync(() => (late.heard.statuses.get(503) ?? 0) > LATE_CONNECTIONS && provider.waiting() === 0)
      )
      const forwarded = provider.invocations.size
      yield* Effect.sleep(GAP_SECONDS * 1_000)
      const during = held()
      const refusedMs = late.heard.slowestMs
      assert.deepStrictEqual([...late.heard.statuses.keys()], [503])
      assert.strictEqual(provider.invocations.size, forwarded, "no call is forwarded that cannot be billed")

      const answered = () => load.heard.acknowledged.length + late.heard.acknowledged.length
      const enough = answered() + CONNECTIONS
      yield* pair.promote
      const promotedMs = performance.now()
      yield* until(
        "calls are answered again",
        Effect.sync(() => answered() > enough)
      )
      const resumedMs = performance.now() - promotedMs
      yield* until(
        "each client has an answer",
        Effect.sync(() => load.heard.acknowledged.length > enough + 10 * CONNECTIONS)
      )
      const heard = [yield* load.stop, yield* late.stop]
      const seconds = Math.ceil((performance.now() - killedMs) / 1_000)
      yield* until(
        "no call is open",
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1 FROM calls_open LIMIT 1`).pipe(
          Effect.map((open) => open.length === 0),
          connectedTo(pair.standby.url),
          Effect.orDie
        )
      )

      const acknowledged = heard.flatMap((one) => one.acknowledged)
      const { findings, ...totals } = yield* booksAfter({ acknowledged, provider }).pipe(connectedTo(pair.standby.url))
      yield* Effect.log(`a gap of ${GAP_SECONDS} s`, {
        before,
        during,
        resumedMs: Math.round(resumedMs),
        refusedMs: Math.round(refusedMs),
        statuses: heard.map((one) => Object.fromEntries(one.statuses)),
        ...totals
      })
      assert.deepStrictEqual(findings, [])
      assert.deepStrictEqual(
        heard.flatMap((one) => one.unclean),
        []
      )
      assert.strictEqual(totals.charged, totals.receipts, "calls that were forwarded are settled by their outcome")
      const twice = [...provider.invocations].filter(([call, ids]) => isKeyed(call) && ids.length > 1)
      assert.deepStrictEqual(twice, [])
      assert.isBelow(refusedMs, REFUSED_MS_MAX)
      assert.isBelow(resumedMs, RESUMED_MS_MAX)
      assert.isBelow(during.files, before.files + 2 * LATE_CONNECTIONS)
      assert.isBelow(
        during.lines,
        EVENTS_MAX * Math.ceil(seconds / 30) + (seconds + 1) * (LINES_PER_SECOND_MAX + FAILURES_PER_SECOND_MAX + 1)
      )
      const audit = yield* finished(["audit"], { settings: { ...settings, DATABASE_URL } })
      assert.strictEqual(audit.code, 0, audit.output + audit.problem)
    }),
  300_000
)

/**
 * `migrate` updates the schema of the database, `doctor` reports what is wrong with it before it causes failures, and
 * `lost-calls` lists calls that were forwarded and that it lost.
 */
import { Console, Effect, Redacted, Result } from "effect"
import {
  CONNECTIONS_BESIDE_POOL,
  type DatabaseFacts,
  type Finding,
  judge,
  judgeHosts,
  judgeReplicas,
  readFacts,
  replicaFacts
} from "../adapters/sql/doctor/Findings.ts"
import { EmbeddedPostgres } from "../adapters/sql/embedded/EmbeddedPostgres.ts"
import { lostCalls, type LostCall, reviewLost } from "../adapters/sql/metering/LostCalls.ts"
import { type DatabaseHost, parseDatabaseUrl } from "../adapters/sql/primary/DatabaseUrl.ts"
import { askHost, primaryAmong } from "../adapters/sql/primary/PrimaryWatch.ts"
import { systemIdentifier, walPosition } from "../adapters/sql/replica/ReplicaWatch.ts"
import { checkDatabase } from "../adapters/sql/shared/DatabaseCheck.ts"
import { storeSql } from "../adapters/sql/shared/StoreSql.ts"
import * as migrations from "../migrations/index.ts"
import { sentenceOf } from "./StartFailure.ts"
import { type AppConfig, valueOf, workersOf } from "./config/AppConfig.ts"
import { client, database, type Database, migrateSchema, OwnerUrl } from "./layers/Database.ts"
import { failed } from "./user/CommandFailure.ts"

const NO_DATABASE = Console.log("The memory profile has no database.")

export const migrate = (config: AppConfig) =>
  config.profile === "memory"
    ? Console.log("The memory profile has no schema.")
    : Effect.gen(function* () {
        const applied = yield* migrateSchema({ ownerUrl: yield* OwnerUrl })
        yield* Console.log(
          applied.length === 0
            ? `The schema is up to date (${migrations.latestVersion}).`
            : `Applied ${applied.map(([, name]) => name).join(", ")}. The schema is at ${migrations.latestVersion}.`
        )
      }).pipe(Effect.provide(database(config)))

const LOST_CALLS_MAX = 100_000

/** A review ends the alert. */
export const listLostCalls = (config: AppConfig, isReviewed: boolean) =>
  config.profile === "memory"
    ? NO_DATABASE
    : Effect.gen(function* () {
        const sql = yield* storeSql
        for (const call of yield* lostCalls(sql, LOST_CALLS_MAX)) yield* Console.log(lineOf(call))
        if (isReviewed) yield* Console.log(`${yield* reviewLost(sql)} calls were marked as reviewed.`)
      }).pipe(Effect.provide(database(config)))

/** One JSON object a line. */
const lineOf = ({ costMicrocents, isAcknowledged, isRepeated, ...call }: LostCall): string =>
  JSON.stringify({
    receipt_id: call.receiptId,
    consumer_id: call.consumerId,
    provider_id: call.providerId,
    tool_name: call.toolName,
    cost_microcents: Number(costMicrocents),
    called_at: call.calledAt.toISOString(),
    found_at: call.foundAt.toISOString(),
    acknowledged: isAcknowledged,
    forwarded_twice: isRepeated,
    reviewed_at: call.reviewedAt?.toISOString() ?? null
  })

const READ_WITHIN_SECONDS = 60

/** Changes nothing. */
export const doctor = (config: AppConfig, asJson: boolean) =>
  config.profile === "memory"
    ? NO_DATABASE
    : Effect.gen(function* () {
        const findings = yield* onDatabaseOf(config)
        yield* Console.log(asJson ? JSON.stringify({ findings }, undefined, 2) : table(findings))
        const problems = findings.filter(({ severity }) => severity === "problem").length
        if (problems > 0) {
          return yield* failed("failed", `The database has ${problems === 1 ? "a problem" : `${problems} problems`}.`)
        }
      })

const onDatabaseOf = (config: AppConfig) => {
  const workers = workersOf(config)
  // A node's, without what its first worker has beside its pool.
  const connectionsMax = workers * valueOf(config, "DATABASE_CONNECTIONS_MAX") + (workers - 1) * CONNECTIONS_BESIDE_POOL
  return config.profile === "embedded"
    ? Effect.flatMap(EmbeddedPostgres, ({ ownerUrl, url }) => examine({ url, ownerUrl, connectionsMax })).pipe(
        Effect.provide(EmbeddedPostgres.layer({ dataDir: valueOf(config, "DATA_DIR") }))
      )
    : examine({
        url: config.DATABASE_URL!,
        ownerUrl: config.MIGRATION_DATABASE_URL,
        readUrl: config.DATABASE_READ_URL,
        readLagMsMax: valueOf(config, "DATABASE_READ_LAG_MS_MAX"),
        connectionsMax
      })
}

interface Examined extends Database {
  readonly readLagMsMax?: number
}

export const examine = Effect.fnUntraced(function* (database: Examined) {
  const parsed = parseDatabaseUrl(Redacted.value(database.url))
  if (Result.isFailure(parsed)) return [unavailable(`${parsed.failure}.`)]
  const [first, ...others] = parsed.success
  if (others.length === 0) return yield* examineHost(first, database)
  const asked = Effect.fnUntraced(function* (host: DatabaseHost) {
    return [host, yield* askHost(host)] as const
  })
  const states = new Map(yield* Effect.forEach(parsed.success, asked, { concurrency: "unbounded" }))
  const hosts = judgeHosts(states)
  const primary = primaryAmong(states, { current: undefined, timeline: 0, cluster: undefined })
  return primary === undefined ? [hosts] : [hosts, ...(yield* examineHost(primary.host, database))]
})

const examineHost = ({ url }: DatabaseHost, { connectionsMax, ownerUrl, readLagMsMax = 0, readUrl }: Examined) =>
  Effect.gen(function* () {
    const unfit = yield* checkDatabase.pipe(
      Effect.provide(client({ url: ownerUrl ?? url, connectionsMax: 1 })),
      Effect.as(undefined),
      // An owner's role that cannot connect is a finding, too.
      Effect.catch((error) => {
        const setting = ownerUrl === undefined ? "DATABASE_URL" : "MIGRATION_DATABASE_URL"
        return Effect.succeed(sentenceOf(Object.assign(error, { setting })))
      })
    )
    const facts: DatabaseFacts = yield* Effect.gen(function* () {
      const schemaProblem = yield* migrations.rejectForeignSchema.pipe(
        Effect.as(undefined),
        Effect.catchTags({
          SchemaNotUpgradable: ({ message }) => Effect.succeed(message),
          SchemaTooNew: ({ message }) => Effect.succeed(message)
        })
      )
      return yield* readFacts({ connectionsMax, schemaExpected: migrations.latestVersion, schemaProblem, unfit })
    }).pipe(Effect.provide(client({ url, connectionsMax: 1 })))
    const findings = judge(facts)
    return readUrl === undefined ? findings : [...findings, yield* examineReplicas(readUrl, url, readLagMsMax)]
  }).pipe(
    Effect.catch((error) => Effect.succeed([unavailable(sentenceOf(error))])),
    Effect.timeoutOrElse({
      duration: `${READ_WITHIN_SECONDS} seconds`,
      orElse: () => Effect.succeed([unavailable(`It did not respond within ${READ_WITHIN_SECONDS} seconds.`)])
    })
  )

const examineReplicas = Effect.fnUntraced(function* (
  readUrl: Redacted.Redacted,
  primaryUrl: Redacted.Redacted,
  lagMsMax: number
) {
  const hosts = Result.getOrThrow(parseDatabaseUrl(Redacted.value(readUrl), "replica"))
  const { cluster, position } = yield* Effect.all({
    cluster: systemIdentifier,
    position: Effect.flatten(walPosition)
  }).pipe(Effect.provide(client({ url: primaryUrl, connectionsMax: 1 })))
  const facts = yield* Effect.forEach(hosts, (host) => replicaFacts(host, position, lagMsMax), {
    concurrency: "unbounded"
  })
  return judgeReplicas(facts, cluster, lagMsMax)
})

const unavailable = (message: string): Finding => ({ check: "connection", severity: "problem", message })

const table = (findings: ReadonlyArray<Finding>): string =>
  findings.map(({ check, message, severity }) => `${severity.padEnd(8)} ${check.padEnd(22)} ${message}`).join("\n")

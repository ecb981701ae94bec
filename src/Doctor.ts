/**
 * `doctor`: reports what is wrong with the database before it causes failures. Changes nothing. Exit code 1 on a problem.
 */
import { Console, Effect, Redacted, Result, Schema } from "effect"
import {
  type DatabaseFacts,
  type Finding,
  judge,
  judgeHosts,
  judgeReplicas,
  readFacts,
  replicaFacts
} from "../adapters/sql/doctor/Findings.ts"
import { EmbeddedPostgres } from "../adapters/sql/embedded/EmbeddedPostgres.ts"
import { type DatabaseHost, parseDatabaseUrl } from "../adapters/sql/primary/DatabaseUrl.ts"
import { askHost, primaryAmong } from "../adapters/sql/primary/PrimaryWatch.ts"
import { systemIdentifier, walPosition } from "../adapters/sql/replica/ReplicaWatch.ts"
import { checkDatabase } from "../adapters/sql/shared/DatabaseCheck.ts"
import * as migrations from "../migrations/index.ts"
import { sentenceOf } from "./StartFailure.ts"
import { type AppConfig, valueOf } from "./config/AppConfig.ts"
import { client, type Database } from "./layers/Database.ts"

export class DatabaseUnhealthy extends Schema.TaggedError<DatabaseUnhealthy>()("DatabaseUnhealthy", {
  problems: Schema.Int
}) {
  override get message() {
    return `The database has ${this.problems === 1 ? "a problem" : `${this.problems} problems`}.`
  }
}

const READ_WITHIN_SECONDS = 60

export const doctor = (config: AppConfig, asJson: boolean) =>
  config.profile === "memory"
    ? Console.log("The memory profile has no database.")
    : Effect.gen(function* () {
        const findings = yield* onDatabaseOf(config)
        yield* Console.log(asJson ? JSON.stringify({ findings }, undefined, 2) : table(findings))
        const problems = findings.filter(({ severity }) => severity === "problem").length
        if (problems > 0) return yield* new DatabaseUnhealthy({ problems })
      })

const onDatabaseOf = (config: AppConfig) => {
  const connectionsMax = valueOf(config, "DATABASE_CONNECTIONS_MAX")
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
      // Also an owner's role that cannot connect.
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

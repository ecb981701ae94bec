/**
 * Two PostgreSQL servers of one cluster: a primary and a standby that replicates it by streaming. The primary can be
 * killed, stopped and continued, and the standby promoted. Both are durable and removed with their scope.
 */
import { Effect, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { binaries } from "../../../adapters/sql/embedded/Binaries.ts"
import { initdbOptions } from "../../../adapters/sql/embedded/ClusterSettings.ts"
import { environment, run, serverAccount } from "../../../adapters/sql/embedded/Command.ts"
import type { BinariesUnusable, NoServerAccount } from "../../../adapters/sql/embedded/EmbeddedPostgresError.ts"
import { certificatesFor } from "./Certificates.ts"
import { until } from "./EmbeddedFolders.ts"
import { freePort } from "./FreePort.ts"
import { settingsOf, startGuardian, temporaryFolder } from "./TemporaryPostgres.ts"
import { connectedTo, createDatabase } from "./TestDatabases.ts"

const DATABASE = "billing"
const SECONDS_MAX = 60

export interface Server {
  readonly port: number
  readonly pid: number
  /** As superuser, to the service's database. */
  readonly url: Redacted.Redacted
}

type ServerSignal = "SIGKILL" | "SIGSTOP" | "SIGCONT"

export interface ReplicaPair {
  readonly primary: Server
  readonly standby: Server
  /** Both hosts, as an operator writes them. */
  readonly url: Redacted.Redacted
  /** The file of the authority that issued the certificates. */
  readonly authority: string | undefined
  /** Sent to every process of the server: what a kill, a frozen machine and its return look like from outside. */
  signalPrimary(name: ServerSignal): Effect.Effect<void>
  signalStandby(name: ServerSignal): Effect.Effect<void>
  /** The standby gets no more of what the primary commits. */
  readonly stopReplication: Effect.Effect<void>
  readonly promote: Effect.Effect<void>
}

export const replicaPair = Effect.fnUntraced(function* ({
  isEncrypted = false,
  isSynchronous
}: {
  readonly isSynchronous: boolean
  /** Each server has a certificate for its own name only. */
  readonly isEncrypted?: boolean
}): Effect.fn.Return<ReplicaPair, BinariesUnusable | NoServerAccount, Scope.Scope> {
  const account = yield* serverAccount("/nonexistent")
  const files = yield* binaries(account)
  const password = randomBytes(16).toString("hex")
  const [first, second] = [yield* temporaryFolder(account, password), yield* temporaryFolder(account, password)]
  const [primaryPort, standbyPort] = [yield* freePort, yield* freePort]
  const command = (file: string, ...args: ReadonlyArray<string>) =>
    run({ file, args, folder: "/", account, secondsMax: SECONDS_MAX }).pipe(
      Effect.filterOrElse(
        ({ ok }) => ok,
        ({ output }) => Effect.die(new Error(`${file}: ${output}`))
      )
    )
  // The folder of a server that is killed is removed.
  const tls = isEncrypted ? yield* certificatesFor(["DNS:localhost", "IP:127.0.0.1"], second, command) : undefined
  const tlsOf = (server: number): Readonly<Record<string, string>> => {
    const own = tls?.issued[server]
    return own === undefined ? {} : { ssl: "on", ssl_cert_file: own.certificate, ssl_key_file: own.key }
  }
  const place = (folder: string) => join(folder, "cluster")
  yield* command(
    files.initdb,
    ...initdbOptions.filter((option) => !option.startsWith("--auth")),
    "--auth=scram-sha-256",
    `--pwfile=${join(first, "password")}`,
    "-D",
    place(first)
  )
  yield* command("cp", "-a", place(first), place(second))
  yield* command("touch", join(place(second), "standby.signal"))

  const start = Effect.fnUntraced(function* (folder: string, port: number, settings: Readonly<Record<string, string>>) {
    const output = yield* startGuardian({
      folder,
      account,
      environment,
      initdb: ["true"],
      server: [files.postgres, "-D", place(folder), ...settingsOf(port, { durable: true, settings })]
    })
    if (output !== undefined) return yield* Effect.die(new Error(`The server on port ${port}: ${output}`))
    const pid = Number(
      (yield* Effect.promise(() => readFile(join(place(folder), "postmaster.pid"), "utf8"))).split("\n")[0]
    )
    return { port, pid, url: Redacted.make(`postgres://postgres:${password}@127.0.0.1:${port}/${DATABASE}`) }
  })

  const primary: Server = yield* start(first, primaryPort, {
    wal_keep_size: "512MB",
    ...tlsOf(0),
    ...(isSynchronous ? { synchronous_standby_names: "standby" } : {})
  })
  // Before the database is created, which waits for a synchronous standby.
  const standby: Server = yield* start(second, standbyPort, {
    primary_conninfo: `host=127.0.0.1 port=${primaryPort} user=postgres password=${password} application_name=standby`,
    ...tlsOf(1)
  })
  yield* Effect.addFinalizer(() => Effect.andThen(signal(primary.pid, "SIGKILL"), signal(standby.pid, "SIGKILL")))

  const at = (url: Redacted.Redacted, database = DATABASE) => {
    const to = new URL(Redacted.value(url))
    to.pathname = `/${database}`
    return connectedTo(Redacted.make(to.href))
  }
  yield* createDatabase(DATABASE, "template0").pipe(at(primary.url, "postgres"), Effect.orDie)
  yield* until(
    "the standby has the database",
    SqlClient.SqlClient.pipe(
      Effect.flatMap((sql) => sql`SELECT 1`),
      at(standby.url),
      Effect.as(true),
      Effect.orElseSucceed(() => false)
    )
  )
  return {
    primary,
    standby,
    authority: tls?.authority,
    url: Redacted.make(
      `postgres://postgres:${password}@${isEncrypted ? "localhost" : "127.0.0.1"}:${primaryPort},127.0.0.1:${standbyPort}` +
        `/${DATABASE}?target_session_attrs=read-write${isEncrypted ? "&sslmode=verify-full" : ""}`
    ),
    signalPrimary: (name) => signal(primary.pid, name),
    signalStandby: (name) => signal(standby.pid, name),
    stopReplication: Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql<{ readonly pid: number }>`SELECT pid FROM pg_stat_replication`
    ).pipe(
      at(primary.url),
      Effect.map((senders) => {
        for (const { pid } of senders) process.kill(pid, "SIGSTOP")
      }),
      Effect.orDie
    ),
    promote: Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT pg_promote()`).pipe(at(standby.url), Effect.orDie)
  }
}, Effect.orDie)

/** PostgreSQL's processes lead sessions of their own, so a signal to the group of the first does not reach them. */
const signal = (pid: number, name: NodeJS.Signals): Effect.Effect<void> =>
  Effect.sync(() => {
    const { stdout } = spawnSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" })
    const children = stdout.split("\n").flatMap((line) => (line.trim() === "" ? [] : [Number(line)]))
    for (const one of [pid, ...children]) {
      try {
        process.kill(one, name)
      } catch {
        // It has ended.
      }
    }
  })

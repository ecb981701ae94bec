/**
 * A PostgreSQL server that is removed with its scope, data included. Not durable by default, which is faster; a test
 * that simulates power failures needs a durable one.
 */
import { Effect, Redacted, Schema, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes, randomInt } from "node:crypto"
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { binaries } from "../../../adapters/sql/embedded/Binaries.ts"
import { initdbOptions } from "../../../adapters/sql/embedded/ClusterSettings.ts"
import { closedTo, environment, serverAccount, type ServerAccount } from "../../../adapters/sql/embedded/Command.ts"
import type { BinariesUnusable, NoServerAccount } from "../../../adapters/sql/embedded/EmbeddedPostgresError.ts"
import type { Orders } from "./PostgresGuardian.ts"

export interface TemporaryPostgres {
  /** As superuser, to the database `postgres`. */
  readonly url: Redacted.Redacted
}

export interface TemporaryPostgresOptions {
  /** Whether committed data is on disk. */
  readonly durable?: boolean
  readonly settings?: Readonly<Record<string, string>>
  /** A folder with another PostgreSQL's `initdb` and `postgres`, instead of the project's own. */
  readonly programs?: string
  /** An existing cluster, with the superuser's password in it, instead of a new one. A copy of it is run. */
  readonly cluster?: { readonly folder: string; readonly password: string }
}

export class NoTemporaryPostgres extends Schema.TaggedError<NoTemporaryPostgres>()("NoTemporaryPostgres", {
  output: Schema.String
}) {
  override get message(): string {
    return `The tests' PostgreSQL did not start: ${this.output}`
  }
}

const START_SECONDS_MAX = 180
const STOP_SECONDS_MAX = 20
/** Below those of `freePort` and those that systems assign. Whether one is free shows when the server binds it. */
const PORTS = [10_000, 20_000] as const
const PORT_TRIES_MAX = 5
const OUTPUT_CHARS_MAX = 4_096
/** Options that every supported version understands. */
const OLD_INITDB_OPTIONS = ["--username=postgres", "--encoding=UTF8", "--locale=C"]

/** The environment variable of `npm run test:quick`, in which a test that needs a server fails. */
const WITHOUT_POSTGRES = "TEST_WITHOUT_POSTGRES"

export const temporaryPostgres = Effect.fnUntraced(function* (
  options: TemporaryPostgresOptions = {}
): Effect.fn.Return<TemporaryPostgres, NoTemporaryPostgres | BinariesUnusable | NoServerAccount, Scope.Scope> {
  if (process.env[WITHOUT_POSTGRES] !== undefined) {
    return yield* new NoTemporaryPostgres({ output: "this run is of tests that need none" })
  }
  const account = yield* serverAccount("/nonexistent")
  const { cluster, programs } = options
  const files =
    programs === undefined
      ? yield* binaries(account)
      : { initdb: join(programs, "initdb"), postgres: join(programs, "postgres") }
  for (let tries = 1; ; tries++) {
    const password = cluster?.password ?? randomBytes(16).toString("hex")
    const port = randomInt(...PORTS)
    const folder = yield* temporaryFolder(account, password)
    const initdb = [
      ...(programs === undefined ? initdbOptions : OLD_INITDB_OPTIONS),
      "--auth=scram-sha-256",
      `--pwfile=${join(folder, "password")}`,
      "--no-sync"
    ]
    const place = join(folder, "cluster")
    const output = yield* startGuardian({
      folder,
      account,
      environment,
      initdb: cluster === undefined ? [files.initdb, ...initdb, "-D", place] : ["cp", "-a", cluster.folder, place],
      server: [files.postgres, "-D", place, ...settingsOf(port, options)]
    })
    if (output === undefined)
      return { url: Redacted.make(`postgres://postgres:${password}@127.0.0.1:${port}/postgres`) }
    if (tries === PORT_TRIES_MAX || !output.includes("Address already in use")) {
      return yield* new NoTemporaryPostgres({ output })
    }
  }
})

export const settingsOf = (
  port: number,
  { durable = false, settings = {} }: TemporaryPostgresOptions
): ReadonlyArray<string> =>
  Object.entries({
    port: String(port),
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "200",
    shared_buffers: "128MB",
    fsync: durable ? "on" : "off",
    full_page_writes: durable ? "on" : "off",
    timezone: "UTC",
    jit: "off",
    log_min_messages: "log",
    log_checkpoints: "off",
    ...settings
  }).flatMap(([name, value]) => ["-c", `${name}=${value}`])

/** The default place, unless the account that runs the server cannot enter it, as with root's own. */
export const temporaryFolder = Effect.fnUntraced(function* (account: ServerAccount | undefined, password: string) {
  const places = [tmpdir(), "/tmp", "/var/tmp"]
  const open = yield* Effect.filter(places, (place) => Effect.map(closedTo(place, account), (closed) => !closed))
  return yield* Effect.promise(async () => {
    const folder = await mkdtemp(join(open[0] ?? tmpdir(), "agent-tool-billing-test-"))
    const passwordFile = join(folder, "password")
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 })
    if (account === undefined) return folder
    await chown(passwordFile, account.uid, account.gid)
    await chown(folder, account.uid, account.gid)
    return folder
  })
})

/** Nothing once the server is ready; its output if it ended instead. */
export const startGuardian = Effect.fnUntraced(function* (orders: Orders) {
  const guardian = yield* Effect.acquireRelease(
    Effect.sync(() => spawnGuardian(orders)),
    (child) => stopGuardian(child, orders.folder)
  )
  return yield* untilReady(guardian).pipe(
    Effect.timeoutOrElse({
      duration: `${START_SECONDS_MAX} seconds`,
      orElse: () => Effect.succeed(`it was not ready within ${START_SECONDS_MAX} seconds`)
    })
  )
})

/** In a session of its own, so that a terminal's Ctrl-C does not end it before its work is done. */
const spawnGuardian = (orders: Orders) =>
  spawn(process.execPath, [fileURLToPath(new URL("PostgresGuardian.ts", import.meta.url)), JSON.stringify(orders)], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...environment, NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] }
  })

type Guardian = ReturnType<typeof spawnGuardian>

const untilReady = (guardian: Guardian): Effect.Effect<string | undefined> =>
  Effect.callback((resume) => {
    let output = ""
    guardian.once("error", (cause) => resume(Effect.succeed(cause.message)))
    guardian.once("close", () => resume(Effect.succeed(output)))
    guardian.stdout.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString("utf8")).slice(-OUTPUT_CHARS_MAX)
      if (/ready to accept (?:read-only )?connections/u.test(output)) resume(Effect.undefined)
    })
  })

const stopGuardian = (guardian: Guardian, folder: string): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (hasEnded(guardian)) return resume(Effect.void)
    guardian.once("close", () => resume(Effect.void))
    guardian.stdin.end()
  }).pipe(
    Effect.timeoutOrElse({ duration: `${STOP_SECONDS_MAX} seconds`, orElse: () => Effect.void }),
    Effect.andThen(Effect.promise(() => rm(folder, { recursive: true, force: true })))
  )

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

/**
 * Data folders for tests of the embedded PostgreSQL, with real servers, and services in processes of their own.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted, Schedule, Schema } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { chmod, cp, mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, vi } from "vitest"
import { EmbeddedPostgres } from "../../../adapters/sql/embedded/EmbeddedPostgres.ts"

export const isRoot = process.getuid?.() === 0

/** A folder that other accounts may enter, with the path of a data folder that does not exist yet. */
export const dataFolder = Effect.acquireRelease(
  Effect.promise(async () => {
    const folder = await mkdtemp(join(tmpdir(), "embedded postgres's "))
    await chmod(folder, 0o755)
    return join(folder, "data")
  }),
  (dataDir) => Effect.promise(() => clear(dataDir))
)

/** A first start takes a second or two: tests of anything else copy this folder. */
export const makeTemplate = async (): Promise<Template> => {
  const folder = await mkdtemp(join(tmpdir(), "embedded-postgres-template-"))
  const dataDir = join(folder, "data")
  await Effect.runPromise(Effect.scoped(EmbeddedPostgres.start({ dataDir })))
  return {
    copy: Effect.tap(dataFolder, (copy) => Effect.promise(() => cp(dataDir, copy, { recursive: true }))),
    remove: () => rm(folder, { recursive: true, force: true })
  }
}

export interface Template {
  readonly copy: typeof dataFolder
  readonly remove: () => Promise<void>
}

/** The setup of a suite: one template for all of its tests, and time for them. Call it at the top of the file. */
export const useTemplate = (): Pick<Template, "copy"> => {
  vi.setConfig({ testTimeout: 240_000 })
  let template: Template | undefined
  beforeAll(async () => {
    template = await makeTemplate()
  })
  afterAll(() => template?.remove())
  return { copy: Effect.suspend(() => template!.copy) }
}

/** 0: there is none. */
export const serverPid = (dataDir: string): Effect.Effect<number> =>
  Effect.tryPromise(() => readFile(join(dataDir, "postgres/postmaster.pid"), "utf8")).pipe(
    Effect.map((text) => Number(text.split("\n")[0])),
    Effect.orElseSucceed(() => 0)
  )

export const anotherServerThan = (pid: number, dataDir: string) =>
  until(
    "another server runs",
    Effect.map(serverPid(dataDir), (now) => now !== 0 && now !== pid)
  )

/** A zombie process is not alive. */
export const isAlive = (pid: number): boolean => /^[^Z]/u.test(stateOf(pid))

/** Its first letter as `ps` shows it; empty if there is no such process. On Linux without `ps`: tests ask again and again. */
const stateOf = (pid: number): string => {
  if (process.platform !== "linux") {
    return spawnSync("ps", ["-o", "state=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim()
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The name of the program, which may contain anything, is in parentheses.
    return stat.slice(stat.lastIndexOf(")") + 2)
  } catch {
    return ""
  }
}

export const until = <R>(what: string, condition: Effect.Effect<boolean, never, R>) =>
  condition.pipe(
    Effect.repeat({ until: (holds) => holds, schedule: Schedule.spaced("20 millis") }),
    Effect.timeoutOrElse({ duration: "120 seconds", orElse: () => Effect.die(new Error(`Never: ${what}`)) })
  )

/** Connections are refused while the server restarts. */
export const retrying = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.retry(effect, { schedule: Schedule.spaced("50 millis"), times: 1_200 })

export const serviceClient = (url: Redacted.Redacted<string>) =>
  Effect.provideServiceEffect(PgClient.make({ url, maxConnections: 4 }), Reactivity.Reactivity, Reactivity.make)

/** As the database's owner, who may create tables: both roles have one password. */
export const client = (url: Redacted.Redacted<string>) =>
  serviceClient(Redacted.make(Redacted.value(url).replace("//billing:", "//billing_owner:")))

export const write = Effect.fnUntraced(function* (url: Redacted.Redacted<string>, note: string) {
  const sql = yield* client(url)
  yield* sql`CREATE TABLE IF NOT EXISTS notes (note text PRIMARY KEY)`
  yield* sql`INSERT INTO notes ${sql.insert({ note })}`
}, Effect.scoped)

export const read = Effect.fnUntraced(function* (url: Redacted.Redacted<string>) {
  const sql = yield* client(url)
  const rows = yield* sql<{ note: string }>`SELECT note FROM notes ORDER BY note`
  return rows.map(({ note }) => note)
}, Effect.scoped)

export const startAnd = <A, E, R>(
  dataDir: string,
  use: (server: EmbeddedPostgres["Service"]) => Effect.Effect<A, E, R>
) => Effect.scoped(Effect.flatMap(EmbeddedPostgres.start({ dataDir }), use))

export const reasonOf = (options: { readonly dataDir: string; readonly port?: number }) =>
  Effect.scoped(EmbeddedPostgres.start(options)).pipe(
    Effect.flip,
    Effect.map(({ reason }) => reason)
  )

interface Account {
  readonly uid?: number
  readonly gid?: number
}

/** Leads a process group of its own, as a shell's job does. */
export const spawnService = (dataDir: string, account: Account = {}) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [join(import.meta.dirname, "embeddedOwner.ts"), dataDir], {
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
        ...account
      })
    ),
    (child) => kill(child, "SIGKILL")
  )

/** A service whose server is ready; fails with its standard error if it ends instead. */
export const service = Effect.fnUntraced(function* (dataDir: string, account: Account = {}) {
  const child = yield* spawnService(dataDir, account)
  const line = yield* Effect.callback<string, string>((resume) => {
    let output = ""
    let problem = ""
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8")
      const found = /^(?<line>\{.*\})$/mu.exec(output)?.groups?.["line"]
      if (found !== undefined) resume(Effect.succeed(found))
    })
    child.stderr.on("data", (chunk: Buffer) => (problem += chunk.toString("utf8")))
    child.once("close", () => resume(Effect.fail(problem)))
  })
  const { url, ...rest } = yield* Schema.decodeEffect(Ready)(line)
  return { ...rest, child, url: Redacted.make(url) }
})

const Ready = Schema.fromJsonString(Schema.Struct({ adopted: Schema.Boolean, port: Schema.Int, url: Schema.String }))

export const kill = (child: ChildProcess, signal: NodeJS.Signals) =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill(signal)
  })

const clear = async (dataDir: string): Promise<void> => {
  const pid = await Effect.runPromise(serverPid(dataDir))
  const { stdout } = spawnSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], { encoding: "utf8" })
  if (/postgres -D/u.test(stdout)) process.kill(pid, "SIGKILL")
  await rm(join(dataDir, ".."), { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
}

import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Redacted } from "effect"
import { appendFileSync } from "node:fs"
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { createServer, type Server } from "node:net"
import { join } from "node:path"
import { EmbeddedPostgres } from "../../../adapters/sql/embedded/EmbeddedPostgres.ts"
import {
  client,
  dataFolder,
  kill,
  read,
  reasonOf,
  serverPid,
  service,
  serviceClient,
  startAnd,
  until,
  write,
  useTemplate
} from "../../support/servers/EmbeddedFolders.ts"

const template = useTemplate()

const warmStartMs = Effect.fnUntraced(function* (dataDir: string) {
  const before = yield* Clock.currentTimeMillis
  return yield* startAnd(dataDir, () => Effect.map(Clock.currentTimeMillis, (now) => now - before))
})

const overTcp = (url: Redacted.Redacted<string>) =>
  Redacted.make(Redacted.value(url).replace(/@[^:]+:/u, "@127.0.0.1:"))

const isBySocket = Effect.fnUntraced(function* (url: Redacted.Redacted<string>) {
  const sql = yield* serviceClient(url)
  const [row] = yield* sql<{ answer: boolean }>`SELECT inet_client_addr() IS NULL AS answer`
  return row?.answer
}, Effect.scoped)

const listener = Effect.acquireRelease(
  Effect.callback<Server>((resume) => {
    const server = createServer().listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.sync(() => server.close())
)

describe("EmbeddedPostgres", () => {
  it.live("creates a durable database at the first start, reached with its password by loopback or socket only", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataFolder
      const { adopted, port, url } = yield* EmbeddedPostgres.start({ dataDir })
      assert.isFalse(adopted)
      const sql = yield* serviceClient(url)
      const [row] = yield* sql`
        SELECT current_database() AS database, current_user AS role, split_part(version(), '.', 1) AS version,
          (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS is_super,
          current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous_commit,
          current_setting('full_page_writes') AS full_page_writes, current_setting('port')::int AS port,
          current_setting('listen_addresses') AS addresses, current_setting('unix_socket_directories') AS sockets,
          inet_client_addr() IS NULL AS is_by_socket`
      assert.deepStrictEqual<unknown>(row, {
        database: "billing",
        role: "billing",
        version: "PostgreSQL 18",
        is_super: false,
        fsync: "on",
        synchronous_commit: "on",
        full_page_writes: "on",
        port,
        addresses: "127.0.0.1",
        sockets: ".",
        is_by_socket: true
      })
      for (const way of [url, overTcp(url)]) {
        const guess = Redacted.make(Redacted.value(way).replace(/:[0-9a-f]{64}@/u, ":guess@"))
        assert.strictEqual((yield* Effect.flip(read(guess)))._tag, "SqlError")
      }
      yield* write(overTcp(url), "by a tool on this machine")
      const { mode } = yield* Effect.promise(() => stat(join(dataDir, "postgres.password")))
      assert.strictEqual(mode & 0o777, 0o600)
    })
  )

  it.live("uses TCP in a folder whose path is too long for a socket", () =>
    Effect.gen(function* () {
      const dataDir = join(yield* dataFolder, "a".repeat(80))
      yield* startAnd(dataDir, ({ url }) => write(url, "kept"))
      const there = yield* startAnd(dataDir, ({ url }) => Effect.all([isBySocket(url), read(url)]))
      assert.deepStrictEqual(there, [false, ["kept"]])
    })
  )

  it.live("lets the service in by the socket of a folder that was created before sockets were used", () =>
    Effect.gen(function* () {
      const dataDir = yield* template.copy
      const rules = join(dataDir, "postgres/pg_hba.conf")
      const own = "host all all 127.0.0.1/32 scram-sha-256\n# a rule of the operator"
      yield* Effect.promise(() => writeFile(rules, own))
      assert.isTrue(yield* startAnd(dataDir, ({ url }) => isBySocket(url)))
      const once = yield* Effect.promise(() => readFile(rules, "utf8"))
      assert.isTrue(once.startsWith(own))
      yield* startAnd(dataDir, ({ url }) => isBySocket(url))
      assert.strictEqual(yield* Effect.promise(() => readFile(rules, "utf8")), once)
    })
  )

  it.live("sorts text by code point, and supports upper and lower case beyond ASCII", () =>
    Effect.gen(function* () {
      const { url } = yield* EmbeddedPostgres.start({ dataDir: yield* template.copy })
      const sql = yield* client(url)
      const words = ["z", "Z", "é", "e", "_", "ﬀ", "😀", "a", "B", "ab", "a b"]
      const rows = yield* sql<{ word: string }>`SELECT word FROM unnest(${words}::text[]) AS word ORDER BY word`
      assert.deepStrictEqual(
        rows.map(({ word }) => word),
        ["B", "Z", "_", "a", "a b", "ab", "e", "z", "é", "ﬀ", "😀"]
      )
      assert.deepStrictEqual<unknown>(yield* sql`SELECT upper('é') AS upper`, [{ upper: "É" }])
    })
  )

  it.live("stops its server in the end, and soon restarts with the data", () =>
    Effect.gen(function* () {
      const dataDir = yield* template.copy
      yield* startAnd(dataDir, ({ url }) => write(url, "kept"))
      assert.strictEqual(yield* serverPid(dataDir), 0)
      const times = [yield* warmStartMs(dataDir), yield* warmStartMs(dataDir)]
      // A quiet machine takes well under a second.
      assert.isBelow(Math.min(...times), 10_000)
      assert.deepStrictEqual(yield* startAnd(dataDir, ({ url }) => read(url)), ["kept"])
    })
  )

  it.live("bounds the server's log, and keeps customers' data out of it", () =>
    Effect.gen(function* () {
      const { logFile, url } = yield* EmbeddedPostgres.start({ dataDir: yield* template.copy })
      // At once: the log may be truncated between two parts of an asynchronous write.
      appendFileSync(logFile, "a long line\n".repeat(800_000))
      yield* until(
        "the log is truncated",
        Effect.promise(async () => (await stat(logFile)).size < 1_000_000)
      )
      assert.isAbove((yield* Effect.promise(() => stat(`${logFile}.1`))).size, 9_000_000)
      const sql = yield* client(url)
      yield* Effect.flip(sql`SELECT 'a customer''s name' FROM nothing`)
      const log = yield* Effect.promise(() => readFile(logFile, "utf8"))
      assert.match(log, /^20.* ERROR: {2}relation "nothing" does not exist/u)
      assert.notInclude(log, "customer")
    })
  )

  it.live("rejects a second service, in this process and in another, and the first is not affected", () =>
    Effect.gen(function* () {
      const dataDir = yield* template.copy
      const { url } = yield* EmbeddedPostgres.start({ dataDir })
      const pid = yield* serverPid(dataDir)
      assert.deepInclude(yield* reasonOf({ dataDir }), { _tag: "FolderInUse", ownerPid: process.pid })
      assert.strictEqual(
        yield* Effect.flip(service(dataDir)),
        `Another running service (process ${process.pid}) uses the data folder ${dataDir}. ` +
          "Stop it, or choose another data folder.\n"
      )
      assert.strictEqual(yield* serverPid(dataDir), pid)
      yield* write(url, "undisturbed")
    })
  )

  it.live("gives the role a new password when the file with the old one is lost", () =>
    Effect.gen(function* () {
      const dataDir = yield* template.copy
      const first = yield* service(dataDir)
      yield* write(first.url, "kept")
      yield* kill(first.child, "SIGKILL")
      yield* Effect.promise(() => rm(join(dataDir, "postgres.password")))
      yield* startAnd(
        dataDir,
        Effect.fnUntraced(function* ({ url }) {
          assert.notStrictEqual(Redacted.value(url), Redacted.value(first.url))
          assert.deepStrictEqual(yield* read(url), ["kept"])
        })
      )
      assert.deepStrictEqual(yield* startAnd(dataDir, ({ url }) => read(url)), ["kept"])
    })
  )

  it.live("describes in one sentence what is wrong with the folder", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataFolder
      const postgres = join(dataDir, "postgres")
      yield* Effect.promise(() => writeFile(dataDir, "a file"))
      assert.strictEqual(
        (yield* reasonOf({ dataDir })).message,
        `The data folder ${dataDir} cannot be used: a file of that name is in its place. ` +
          "Fix the folder, or choose another data folder."
      )
      assert.strictEqual(
        (yield* reasonOf({ dataDir: postgres })).message,
        `The data folder ${postgres} cannot be used: a file is where a folder should be. ` +
          "Fix the folder, or choose another data folder."
      )
      assert.strictEqual((yield* reasonOf({ dataDir: "/proc/data" }))._tag, "FolderUnusable")
      yield* Effect.promise(() => rm(dataDir))
      yield* Effect.promise(() => mkdir(postgres, { recursive: true }))
      yield* Effect.promise(() => writeFile(join(postgres, "holiday.jpg"), ""))
      assert.include((yield* reasonOf({ dataDir })).message, "it holds files, but no PostgreSQL cluster")
      yield* Effect.promise(() => writeFile(join(postgres, "PG_VERSION"), "17\n"))
      assert.deepInclude(yield* reasonOf({ dataDir }), { _tag: "VersionMismatch", clusterVersion: "17" })
    })
  )

  it.live("reports that its configured port is in use, and leaves nothing running", () =>
    Effect.gen(function* () {
      const dataDir = yield* template.copy
      const address = (yield* listener).address()
      const port = address !== null && typeof address === "object" ? address.port : 0
      const reason = yield* reasonOf({ dataDir, port })
      assert.strictEqual(
        reason.message,
        `Port ${port} on 127.0.0.1, which PostgreSQL needs, is in use by another program. ` +
          "Stop that program, or choose another port."
      )
      assert.strictEqual(yield* serverPid(dataDir), 0)
    })
  )
})

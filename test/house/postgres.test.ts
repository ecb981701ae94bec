import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { createConnection } from "node:net"
import { inject } from "vitest"
import { names as migrations } from "../../migrations/index.ts"
import { projectRoot } from "../support/project/PlantedProject.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { temporaryPostgres } from "../support/servers/TemporaryPostgres.ts"
import { connectedTo } from "../support/servers/TestDatabases.ts"

const TIMEOUT_MS = 180_000

describe("a test's database", () => {
  it.layer(PostgresTest.layer)("is migrated, also under a test's clock", (it) => {
    it.effect("up to the newest migration", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const applied = yield* sql<{ readonly name: string }>`
          SELECT name FROM agent_tool_billing_migrations ORDER BY migration_id`
        assert.deepStrictEqual(
          applied.map(({ name }) => name),
          migrations.map((name) => name.replace(/^\d+_/u, ""))
        )
      })
    )
  })

  it.live("is separate for each layer, and dropped with it", () =>
    Effect.gen(function* () {
      const mark = Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE mark (id int8)`
        return (yield* PostgresTest).database
      })
      const first = yield* Effect.provide(mark, PostgresTest.layer, { local: true })
      const second = yield* Effect.provide(mark, PostgresTest.layer, { local: true })
      assert.notStrictEqual(first, second)
      const left = yield* SqlClient.SqlClient.pipe(
        Effect.flatMap((sql) => sql`SELECT datname FROM pg_database WHERE datname IN (${first}, ${second})`),
        connectedTo(Redacted.make(inject("testDatabases").adminUrl))
      )
      assert.deepStrictEqual(left, [])
    })
  )
})

describe("the tests' own server", () => {
  const settingsOf = (url: Redacted.Redacted) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`SELECT current_setting('fsync') AS fsync, current_setting('data_directory') AS folder`
      return yield* decodeSettings(rows[0])
    }).pipe(connectedTo(url))
  const decodeSettings = Schema.decodeUnknownEffect(Schema.Struct({ fsync: Schema.String, folder: Schema.String }))

  it.live(
    "is durable where a test requires that",
    () =>
      Effect.gen(function* () {
        const { url } = yield* temporaryPostgres({ durable: true })
        assert.strictEqual((yield* settingsOf(url)).fsync, "on")
      }),
    TIMEOUT_MS
  )

  it.live(
    "ends with the process that started it, killed or not, and leaves nothing behind",
    () =>
      Effect.gen(function* () {
        const owner = yield* startOwner
        const { folder, fsync } = yield* settingsOf(owner.url)
        assert.strictEqual(fsync, "off")
        assert.isTrue(existsSync(folder))
        owner.kill()
        yield* Effect.suspend(() => (existsSync(folder) ? Effect.fail("it is still there") : Effect.void)).pipe(
          Effect.retry(Schedule.spaced("50 millis").pipe(Schedule.upTo({ duration: "60 seconds" })))
        )
        assert.isFalse(yield* listens(owner.url))
      }),
    TIMEOUT_MS
  )

  /** Another process, with a server of its own, which prints its address. */
  const startOwner = Effect.acquireRelease(
    Effect.callback<{ readonly url: Redacted.Redacted; readonly kill: () => void }>((resume) => {
      const script = `
        import { Effect, Redacted } from "effect"
        import { temporaryPostgres } from "./test/support/servers/TemporaryPostgres.ts"
        const started = Effect.tap(temporaryPostgres(), ({ url }) => Effect.sync(() => console.log(Redacted.value(url))))
        await Effect.runPromise(Effect.scoped(Effect.andThen(started, Effect.never)))`
      const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
        cwd: projectRoot,
        stdio: ["ignore", "pipe", "inherit"]
      })
      child.stdout.once("data", (line: Buffer) =>
        resume(Effect.succeed({ url: Redacted.make(line.toString().trim()), kill: () => child.kill("SIGKILL") }))
      )
      child.once("exit", (code) => resume(Effect.die(new Error(`it ended with ${code}`))))
    }),
    ({ kill }) => Effect.sync(kill)
  )

  const listens = (url: Redacted.Redacted): Effect.Effect<boolean> =>
    Effect.callback((resume) => {
      const { hostname, port } = new URL(Redacted.value(url))
      const socket = createConnection({ host: hostname, port: Number(port) })
      socket.once("connect", () => resume(Effect.succeed(true)))
      socket.once("error", () => resume(Effect.succeed(false)))
      return Effect.sync(() => socket.destroy())
    })
})

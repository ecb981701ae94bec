/**
 * A start that fails: one clear sentence, a nonzero exit code, and nothing left behind.
 */
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { chmod, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { client, dataFolder, isRoot, serverPid, startAnd, until } from "../support/servers/EmbeddedFolders.ts"
import { freePort } from "../support/servers/FreePort.ts"
import { finished, json, ready, start, temporaryFolder } from "../support/servers/ServiceProcess.ts"

vi.setConfig({ testTimeout: 180_000 })

const NOBODY = { uid: 65_534, gid: 65_534 }

interface Ended {
  readonly code: number | NodeJS.Signals
  readonly output: string
  readonly problem: string
}

/** Readable for people: no stack, no object, no internal name. */
const isForPeople = ({ code, output, problem }: Ended): void => {
  assert.strictEqual(code, 1, problem)
  assert.notInclude(output, "is ready")
  assert.notMatch(problem, /\n\s+at |\[cause\]|\{\s|_tag|node:internal|undefined|Cause\(/u)
  assert.match(problem, /^\S.*\S\n$/su)
}

const isOneSentence = (ended: Ended): void => {
  isForPeople(ended)
  assert.match(ended.problem, /^[^\n]*[.?]\n$/u)
}

const takenPort = Effect.acquireRelease(
  Effect.callback<ReturnType<typeof createServer>>((resume) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.sync(() => server.close())
).pipe(
  Effect.map((server) => {
    const address = server.address()
    return typeof address === "object" && address !== null ? String(address.port) : ""
  })
)

describe("a start that fails", () => {
  it.live("where the port is in use; the database that it had started is stopped", () =>
    Effect.gen(function* () {
      const port = yield* takenPort
      const dataDir = yield* dataFolder
      const ended = yield* finished(["serve", "--data-dir", dataDir, "--port", port])
      isOneSentence(ended)
      assert.include(ended.problem, port)
      assert.strictEqual(yield* serverPid(dataDir), 0)
    })
  )

  it.live("where the address is not one of this machine", () =>
    Effect.gen(function* () {
      const ended = yield* finished(["serve", "--profile", "memory", "--port", "0", "--host", "203.0.113.1"])
      isOneSentence(ended)
      assert.include(ended.problem, "203.0.113.1")
    })
  )

  it.live("where the data folder is not a folder", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryFolder, "a file")
      yield* Effect.promise(() => writeFile(file, ""))
      const dataDir = join(file, "data")
      const ended = yield* finished(["serve", "--data-dir", dataDir, "--port", "0"])
      isOneSentence(ended)
      assert.include(ended.problem, dataDir)
    })
  )

  it.live("where the data folder is not writable", (ctx) =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* Effect.promise(() => chmod(folder, 0o555))
      // Root may write everywhere, so another account starts it.
      const options = isRoot ? { account: NOBODY } : {}
      const able = yield* finished(["help"], options)
      if (able.code !== 0)
        return ctx.skip("run by root in a folder that nobody else may enter: nobody else can start it")
      const dataDir = join(folder, "data")
      const ended = yield* finished(["serve", "--data-dir", dataDir, "--port", "0"], options)
      isOneSentence(ended)
      assert.include(ended.problem, dataDir)
    })
  )

  it.live("where another service uses the data folder, which is not affected", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataFolder
      const first = yield* ready({ DATA_DIR: dataDir })
      const second = yield* finished(["serve", "--data-dir", dataDir, "--port", "0"])
      isOneSentence(second)
      assert.include(second.problem, dataDir)
      assert.strictEqual((yield* json(`${first.url}/api/market/health`)).status, 200)
    })
  )

  it.live("where the data folder has the schema of a version before the first release", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataFolder
      yield* startAnd(
        dataDir,
        Effect.fnUntraced(function* ({ url }) {
          const sql = yield* client(url)
          yield* sql`CREATE TABLE effect_sql_migrations (migration_id int4 PRIMARY KEY, name text NOT NULL)`
          yield* sql`INSERT INTO effect_sql_migrations VALUES (1, 'accounts_and_catalogue'), (33, 'market_figures')`
          yield* sql`CREATE TABLE receipts (receipt_id text PRIMARY KEY)`
        }, Effect.scoped)
      )
      for (const command of ["serve", "migrate"]) {
        const ended = yield* finished([command, "--data-dir", dataDir], { settings: { PORT: "0" } })
        isOneSentence(ended)
        assert.include(ended.problem, "schema version 33 from before the first release, which cannot be upgraded")
      }
    })
  )

  it.live("where the database is not available; no password is shown", () =>
    Effect.gen(function* () {
      const closed = yield* freePort
      const secret = "x".repeat(32)
      const settings = {
        DATABASE_URL: `postgres://user:hunter2@127.0.0.1:${closed}/none`,
        RECEIPT_SIGNING_SECRET: secret,
        LOG_SIGNING_KEY: "0".repeat(64),
        PAYMENTS: "dry_run"
      }
      const ended = yield* finished(["serve", "--port", "0"], { settings })
      isOneSentence(ended)
      for (const word of ["DATABASE_URL", `127.0.0.1:${closed}`, "Check that it is running"])
        assert.include(ended.problem, word)
      assert.notInclude(ended.output + ended.problem, "hunter2")
    })
  )

  it.live("where the configuration or the command line is invalid", () =>
    Effect.gen(function* () {
      const settings = { PORT: "http", TRUST_PROXY: "the office", OPERATOR_KEY: "hunter2" }
      const wrong = yield* finished(["serve"], { settings })
      isForPeople(wrong)
      for (const name of Object.keys(settings)) assert.include(wrong.problem, name)
      assert.notInclude(wrong.problem, "hunter2")
      const unknown = yield* finished(["serve", "--colour", "red"])
      isOneSentence(unknown)
      assert.include(unknown.problem, "--colour")
    })
  )
})

describe("commands that end", () => {
  it.live("config prints the effective values: flags before the environment before .env, and no secret", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const dotEnv = ["PORT=1111", "HOST=0.0.0.0", "LOG_LEVEL=Warn", `OPERATOR_KEY=${"s".repeat(32)}`].join("\n")
      yield* Effect.promise(() => writeFile(join(folder, ".env"), dotEnv))
      const shown = yield* finished(["config", "--port=3333"], { cwd: folder, settings: { PORT: "2222", HOST: "::1" } })
      assert.strictEqual(shown.code, 0)
      for (const line of ["PORT=3333", "HOST=::1", "LOG_LEVEL=Warn"]) assert.include(shown.output, line)
      assert.notInclude(shown.output, "s".repeat(32))
      assert.match(shown.output, /OPERATOR_KEY=\(set/u)
    })
  )

  it.live("migrate updates a new folder's schema once", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataFolder
      const first = yield* finished(["migrate", "--data-dir", dataDir])
      const second = yield* finished(["migrate", "--data-dir", dataDir])
      assert.deepStrictEqual([first.code, second.code], [0, 0], first.problem + second.problem)
      assert.include(first.output, "Applied")
      assert.include(second.output, "up to date")
      assert.strictEqual(yield* serverPid(dataDir), 0)
    })
  )

  it.live("a reader of the log that disconnects does not end the service", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      const settings = { ACCESS_LOG_RATIO: "1" }
      const service = yield* start(["serve", "--profile", "memory", "--port", String(port)], { settings })
      service.child.stdout!.destroy()
      service.child.stderr!.destroy()
      const url = `http://127.0.0.1:${port}/api/market/health`
      const isUp = Effect.promise(() =>
        fetch(url).then(
          ({ ok }) => ok,
          () => false
        )
      )
      yield* until("it answers", isUp)
      // Each leaves a line.
      for (let n = 0; n < 50; n++) assert.isTrue(yield* isUp, `request ${n}`)
    })
  )
})

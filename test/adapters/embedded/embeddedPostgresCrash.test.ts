import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Schedule } from "effect"
import { spawn } from "node:child_process"
import { readdir, readFile, rename, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { openCluster } from "../../../adapters/sql/embedded/Cluster.ts"
import { EmbeddedPostgres } from "../../../adapters/sql/embedded/EmbeddedPostgres.ts"
import { supervise } from "../../../adapters/sql/embedded/Supervisor.ts"
import {
  anotherServerThan,
  client,
  dataFolder,
  isAlive,
  kill,
  retrying,
  read,
  serverPid,
  service,
  spawnService,
  startAnd,
  until,
  write,
  useTemplate
} from "../../support/servers/EmbeddedFolders.ts"

const template = useTemplate()

const drafts = (dataDir: string) =>
  Effect.promise(() => readdir(dataDir).catch(() => [])).pipe(
    Effect.map((names) => names.filter((name) => name.startsWith("postgres.draft-")).map((name) => join(dataDir, name)))
  )

describe("EmbeddedPostgres, after a crash", () => {
  it.live("adopts the server that a killed service left behind, and stops it in the end", () =>
    Effect.gen(function* () {
      const dataDir = yield* template.copy
      const first = yield* service(dataDir)
      const pid = yield* serverPid(dataDir)
      yield* write(first.url, "kept")
      yield* kill(first.child, "SIGKILL")
      assert.isTrue(isAlive(pid))
      yield* startAnd(
        dataDir,
        Effect.fnUntraced(function* ({ adopted, port, url }) {
          assert.isTrue(adopted)
          assert.strictEqual(port, first.port)
          assert.strictEqual(yield* serverPid(dataDir), pid)
          assert.deepStrictEqual(yield* read(url), ["kept"])
        })
      )
      assert.isFalse(isAlive(pid), "the end of the scope stops it")
    })
  )

  it.live("restarts a killed server on the same port, so that a pool continues, also after an adoption", () =>
    Effect.gen(function* () {
      const dataDir = yield* template.copy
      const first = yield* service(dataDir)
      yield* write(first.url, "0")
      yield* kill(first.child, "SIGKILL")
      const { adopted, failed: gaveUp, url } = yield* EmbeddedPostgres.start({ dataDir })
      assert.isTrue(adopted)
      const sql = yield* client(url)
      for (const note of ["1", "2", "3"]) {
        const pid = yield* serverPid(dataDir)
        process.kill(pid, "SIGKILL")
        yield* anotherServerThan(pid, dataDir)
        yield* retrying(sql`INSERT INTO notes ${sql.insert({ note })}`)
      }
      assert.deepStrictEqual(yield* read(url), ["0", "1", "2", "3"])
      const watching = Effect.as(Effect.sleep("50 millis"), "watching")
      assert.strictEqual(yield* Effect.race(Effect.flip(gaveUp), watching), "watching")
    })
  )

  it.live("keeps committed data when service and server are both killed", () =>
    Effect.gen(function* () {
      const dataDir = yield* template.copy
      const first = yield* service(dataDir)
      yield* write(first.url, "kept")
      const pid = yield* serverPid(dataDir)
      yield* kill(first.child, "SIGKILL")
      process.kill(pid, "SIGKILL")
      const { adopted, url } = yield* EmbeddedPostgres.start({ dataDir })
      assert.isFalse(adopted)
      assert.deepStrictEqual(yield* read(url), ["kept"])
    })
  )

  it.live("replaces a left-behind server that runs with other settings", () =>
    Effect.gen(function* () {
      const dataDir = yield* template.copy
      const first = yield* service(dataDir)
      const pid = yield* serverPid(dataDir)
      yield* write(first.url, "kept")
      yield* kill(first.child, "SIGKILL")
      yield* Effect.promise(() => writeFile(join(dataDir, "postgres/service.conf"), "fsync = off\n"))
      const { adopted, url } = yield* EmbeddedPostgres.start({ dataDir })
      assert.isFalse(adopted)
      assert.isFalse(isAlive(pid))
      assert.deepStrictEqual(yield* read(url), ["kept"])
    })
  )

  it.live("restarts although a process of the killed server still works in the folder", () =>
    Effect.gen(function* () {
      const dataDir = yield* template.copy
      const { url } = yield* EmbeddedPostgres.start({ dataDir })
      yield* write(url, "kept")
      const sql = yield* client(url)
      const forever = sql`SELECT count(*) AS busy FROM generate_series(1, 100000000000) AS i`
      yield* Effect.forkScoped(Effect.ignore(forever))
      const [busy] = yield* sql<{ pid: number }>`
        SELECT pid FROM pg_stat_activity
        WHERE query LIKE '%AS busy%' AND state = 'active' AND pid <> pg_backend_pid()`.pipe(
        Effect.repeat({ until: (rows) => rows.length === 1, schedule: Schedule.spaced("20 millis") })
      )
      process.kill(yield* serverPid(dataDir), "SIGKILL")
      yield* Effect.sleep("300 millis")
      assert.isTrue(isAlive(busy?.pid ?? 0), "it outlives its server")
      assert.deepStrictEqual(yield* retrying(read(url)), ["kept"])
      assert.isFalse(isAlive(busy?.pid ?? 0))
    })
  )

  it.live("starts although the dead server's process id belongs to another process", () =>
    Effect.gen(function* () {
      const dataDir = yield* template.copy
      yield* startAnd(dataDir, ({ url }) => write(url, "kept"))
      const folder = join(dataDir, "postgres")
      const { gid, uid } = yield* Effect.promise(() => stat(folder))
      const other = yield* Effect.acquireRelease(
        Effect.sync(() => spawn("sleep", ["60"], { uid, gid, cwd: "/" })),
        (child) => kill(child, "SIGKILL")
      )
      const stale = [other.pid, folder, 1, 5432, "", "127.0.0.1", "1 1", "ready   ", ""].join("\n")
      yield* Effect.promise(() => writeFile(join(folder, "postmaster.pid"), stale))
      const { adopted, url } = yield* EmbeddedPostgres.start({ dataDir })
      assert.isFalse(adopted)
      assert.deepStrictEqual(yield* read(url), ["kept"])
      assert.isTrue(isAlive(other.pid ?? 0), "it was not signalled")
    })
  )

  it.live("creates the database again when the first start was killed half-way", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataFolder
      const child = yield* spawnService(dataDir)
      yield* until(
        "initdb is at work",
        Effect.flatMap(drafts(dataDir), ([draft]) =>
          Effect.promise(async () => draft !== undefined && (await readdir(draft).catch(() => [])).length > 5)
        )
      )
      yield* kill(child, "SIGKILL")
      yield* startAnd(dataDir, ({ url }) => write(url, "kept"))
      assert.deepStrictEqual(yield* drafts(dataDir), [])
    })
  )

  it.live("stops service and server gracefully on a Ctrl-C, which a terminal sends to the whole process group", () =>
    Effect.gen(function* () {
      const dataDir = yield* template.copy
      const { child } = yield* service(dataDir)
      const pid = yield* serverPid(dataDir)
      process.kill(-(child.pid ?? 0), "SIGINT")
      yield* until(
        "the service ends",
        Effect.sync(() => child.exitCode !== null || child.signalCode !== null)
      )
      assert.isFalse(isAlive(pid))
      const log = yield* Effect.promise(() => readFile(join(dataDir, "postgres.log"), "utf8"))
      assert.match(log, /database system is shut down\n$/u)
    })
  )

  it.live("gives up with the reason when the server cannot be restarted", () =>
    Effect.gen(function* () {
      const dataDir = yield* template.copy
      const cluster = yield* openCluster(dataDir)
      const clock = yield* Clock.Clock
      const hurried: Clock.Clock = Object.assign(Object.create(clock), {
        sleep: (duration: Duration.Duration) => clock.sleep(Duration.times(duration, 0.02))
      })
      const { failed: gaveUp } = yield* supervise(cluster, undefined).pipe(Effect.provideService(Clock.Clock, hurried))
      const control = join(cluster.folder, "global/pg_control")
      yield* Effect.promise(() => rename(control, `${control}.gone`))
      process.kill(yield* serverPid(dataDir), "SIGKILL")
      const reason = yield* Effect.flip(gaveUp)
      assert.strictEqual(reason._tag, "StoppedTooOften")
      assert.match(reason.message, /did not restart in 10 attempts\. .*pg_control/u)
    })
  )
})

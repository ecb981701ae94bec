/**
 * Point-in-time recovery: a base backup during calls, and the WAL archived since, in another server. As in
 * docs/backup.md; by SQL only, and by `pg_basebackup` where the machine has it.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { spawnSync } from "node:child_process"
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs"
import { chmod, chown, mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"
import { serverAccount } from "../../adapters/sql/embedded/Command.ts"
import { backupMarket, continues, isSound, moreCalls, NEXT_LOG_KEY } from "../support/backup/BackupMarket.ts"
import { NO_TOOLS, tool, toolsHere } from "../support/backup/PostgresTools.ts"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { temporaryPostgres } from "../support/servers/TemporaryPostgres.ts"
import { connectedTo, createDatabase, urlOf } from "../support/servers/TestDatabases.ts"

/** Owned by the server's account, which writes there. */
const serversFolder = Effect.gen(function* () {
  const account = yield* serverAccount("/nonexistent")
  return yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = await mkdtemp("/tmp/agent-tool-billing-backup-")
      mkdirSync(join(folder, "wal"))
      await chmod(folder, 0o755)
      if (account !== undefined) await chown(join(folder, "wal"), account.uid, account.gid)
      const give = (path: string) => {
        if (account !== undefined) copied("chown", "-R", `${account.uid}:${account.gid}`, path)
      }
      return { base: join(folder, "base"), wal: join(folder, "wal"), give, folder }
    }),
    ({ folder }) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )
})

/** Files that a running server removes may be gone when `cp` gets to them. */
const copied = (file: string, ...args: ReadonlyArray<string>): void => {
  const { status, stderr } = spawnSync(file, args, { encoding: "utf8" })
  const problems = stderr.split("\n").filter((line) => line !== "" && !line.includes("No such file"))
  if (status !== 0 && problems.length > 0) throw new Error(problems.join("\n"))
}

/** With a connection and `cp` only: start and stop are called in one session. */
const bySql = (url: Redacted.Redacted, base: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [server] = yield* sql<{ readonly folder: string }>`SELECT current_setting('data_directory') AS folder`
    yield* sql`SELECT pg_backup_start('base', true)::text`
    copied("cp", "-a", server!.folder, base)
    const [stopped] = yield* sql<{ readonly labelfile: string }>`SELECT labelfile FROM pg_backup_stop(true)`
    for (const left of ["postmaster.pid", "postmaster.opts", "pg_wal", "pg_replslot"])
      copied("rm", "-rf", join(base, left))
    for (const empty of ["pg_wal", "pg_replslot"]) mkdirSync(join(base, empty), { mode: 0o700 })
    writeFileSync(join(base, "backup_label"), stopped!.labelfile)
  }).pipe(Effect.provide(PgClient.layer({ url, maxConnections: 1 })), Effect.orDie)

const backThen = Effect.fnUntraced(function* (
  programs: string | undefined,
  backUp: (url: Redacted.Redacted, base: string) => Effect.Effect<void, never, Scope.Scope>
) {
  const { base, give, wal } = yield* serversFolder
  const own = programs === undefined ? {} : { programs }
  const settings = {
    archive_mode: "on",
    archive_command: `test ! -f ${wal}/%f && cp %p ${wal}/%f`
  }
  const server = yield* temporaryPostgres({ ...own, durable: true, settings })
  const database = urlOf({ adminUrl: Redacted.value(server.url) }, "market")
  yield* createDatabase("market", "template0").pipe(connectedTo(server.url))
  const market = yield* backupMarket(database)

  const load = yield* market.load
  yield* moreCalls(load)
  yield* backUp(server.url, base)
  yield* moreCalls(load)
  const { acknowledged } = yield* load.stop
  const [moment] = yield* Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ readonly at: string }>`SELECT clock_timestamp()::text AS at`
  ).pipe(connectedTo(server.url))

  // All of these calls come after the restored moment.
  const tooMuch = yield* market.load
  yield* moreCalls(tooMuch)
  yield* tooMuch.stop
  yield* market.kill
  yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [{ file } = { file: "" }] = yield* sql<{ readonly file: string }>`
      SELECT pg_walfile_name(pg_switch_wal()) AS file`
    const archived = Effect.orDie(
      Effect.map(
        sql<{ readonly last: string | null }>`SELECT last_archived_wal AS last FROM pg_stat_archiver`,
        ([row]) => (row?.last ?? "") >= file
      )
    )
    yield* until("the last WAL is in the archive", archived)
  }).pipe(connectedTo(server.url))

  writeFileSync(join(base, "recovery.signal"), "")
  appendFileSync(
    join(base, "postgresql.auto.conf"),
    `restore_command = 'cp ${wal}/%f %p'\nrecovery_target_time = '${moment!.at}'\nrecovery_target_action = 'promote'\n`
  )
  give(base)
  const { password } = new URL(Redacted.value(server.url))
  const back = yield* temporaryPostgres({ ...own, durable: true, cluster: { folder: base, password } })
  const restored = urlOf({ adminUrl: Redacted.value(back.url) }, "market")

  const books = yield* isSound(restored)
  const early = acknowledged.length
  assert.isAtLeast(books.receipts, early)
  const sold = [...acknowledged, ...tooMuch.heard.acknowledged].map(({ receiptId }) => receiptId.slice(5))
  const there = yield* Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ readonly id: string }>`SELECT replace(receipt_id::text, '-', '') AS id FROM receipts`
  ).pipe(connectedTo(restored))
  const known = new Set(there.map(({ id }) => id))
  assert.deepStrictEqual(
    sold.filter((id, n) => known.has(id) !== n < early),
    [],
    "every call before the moment, and none after it"
  )
  const { kill } = yield* continues(restored, market, acknowledged, { logKey: NEXT_LOG_KEY, logNumber: 2 })
  yield* kill
  yield* isSound(restored, NEXT_LOG_KEY)
})

it.live(
  "a base backup by SQL only, and the archive: every call until then, and none since",
  () => backThen(undefined, bySql),
  400_000
)

it.live(
  "a base backup by pg_basebackup, and the archive: the same",
  (ctx) => {
    const programs = toolsHere()
    if (programs === undefined) return Effect.sync(() => ctx.skip(NO_TOOLS))
    const take = (url: Redacted.Redacted, base: string) =>
      tool(join(programs, "pg_basebackup"), url, `--pgdata=${base}`, "--wal-method=none", "--checkpoint=fast")
    return backThen(programs, take)
  },
  400_000
)

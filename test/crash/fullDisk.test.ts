/**
 * The disk is full during calls: callers get a Retry-After, and the service recovers automatically once there is
 * space.
 */
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { closeSync, cpSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { kill, makeTemplate, startAnd, client, type Template, until } from "../support/servers/EmbeddedFolders.ts"
import { SqlClient } from "effect/sql"
import { callLoad, type Load } from "../support/load/CallLoad.ts"
import { echoProvider } from "../support/load/EchoProvider.ts"
import { booksAfter } from "../support/load/LoadAudit.ts"
import { loadMarket, OPEN_TO_LOAD } from "../support/load/LoadMarket.ts"
import { residentMib } from "../support/load/Memory.ts"
import { freePort } from "../support/servers/FreePort.ts"
import { finished, ready } from "../support/servers/ServiceProcess.ts"

const CONNECTIONS = 64
const DISK_MIB = 384
const FULL_SECONDS_MAX = 45
const LOOKS_A_SECOND = 4
const GROWTH_MIB_MAX = 160

/** A disk of its own, so that no other one is filled: it needs root. */
const disk = mkdtempSync(join(tmpdir(), "small-disk-"))
const hasDisk = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MIB}m`, "tmpfs", disk]).status === 0

let template: Template
beforeAll(async () => {
  template = await makeTemplate()
})
afterAll(async () => {
  if (hasDisk) spawnSync("umount", ["-l", disk])
  rmSync(disk, { recursive: true, force: true })
  await template.remove()
})

const ballast = join(disk, "ballast")
const PIECE = Buffer.alloc(1024 * 1024)

/** To the last byte, again and again: released space is filled too. */
const fill = Effect.sync(() => {
  const file = openSync(ballast, "a")
  try {
    for (const piece of [PIECE, PIECE.subarray(0, 4_096)]) for (;;) writeSync(file, piece)
  } catch {
  } finally {
    closeSync(file)
  }
})

const flows = (load: Load) =>
  Effect.suspend(() => {
    const enough = load.heard.acknowledged.length + CONNECTIONS
    return until(
      "calls are answered",
      Effect.sync(() => load.heard.acknowledged.length >= enough)
    )
  })

it.live.skipIf(!hasDisk)(
  "a full disk loses nothing that was acknowledged, and the service recovers when there is space",
  () =>
    Effect.gen(function* () {
      const dataDir = join(disk, "data")
      cpSync(yield* template.copy, dataDir, { recursive: true })
      const provider = yield* echoProvider
      const PORT = String(yield* freePort)
      const url = `http://127.0.0.1:${PORT}`
      const service = yield* ready({ ...OPEN_TO_LOAD, DATA_DIR: dataDir, PORT, LOG_LEVEL: "Error" })
      const market = yield* loadMarket(url, provider)
      const load = yield* callLoad({ ...market, url, connections: CONNECTIONS })
      yield* flows(load)
      const before = residentMib(service.pid)
      const refusedBefore = load.heard.statuses.get(503) ?? 0
      const refused = () => (load.heard.statuses.get(503) ?? 0) - refusedBefore
      // PostgreSQL's preallocated files last for a while, and calls are retried for some seconds before they are
      // rejected.
      for (let look = 0; look < FULL_SECONDS_MAX * LOOKS_A_SECOND && refused() === 0; look++) {
        yield* fill
        yield* Effect.sleep(1_000 / LOOKS_A_SECOND)
      }
      const grewMib = residentMib(service.pid) - before
      assert.isAbove(refused(), 0, "callers were told to come again")
      const startedAt = performance.now()
      rmSync(ballast)
      yield* flows(load)
      const backAfterMs = Math.round(performance.now() - startedAt)
      const heard = yield* load.stop
      yield* Effect.log(Object.fromEntries(heard.statuses), { lost: heard.lost, backAfterMs, grewMib })
      yield* kill(service.child, "SIGTERM")
      assert.deepStrictEqual(heard.unclean, [])
      assert.isBelow(grewMib, GROWTH_MIB_MAX)

      const { findings } = yield* startAnd(dataDir, ({ url: database }) =>
        Effect.scoped(
          Effect.flatMap(client(database), (sql) =>
            Effect.provideService(booksAfter({ acknowledged: heard.acknowledged, provider }), SqlClient.SqlClient, sql)
          )
        )
      )
      assert.deepStrictEqual(findings, [])
      const check = yield* finished(["fsck", "--data-dir", dataDir])
      assert.strictEqual(check.code, 0, check.output + check.problem)
    }),
  300_000
)

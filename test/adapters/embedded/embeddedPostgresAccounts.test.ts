import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { chmod, lstat, readdir } from "node:fs/promises"
import { dirname, join } from "node:path"
import { EmbeddedPostgres } from "../../../adapters/sql/embedded/EmbeddedPostgres.ts"
import {
  dataFolder,
  isAlive,
  isRoot,
  kill,
  retrying,
  read,
  serverPid,
  service,
  startAnd,
  write,
  useTemplate
} from "../../support/servers/EmbeddedFolders.ts"

const template = useTemplate()

/** Another account, where root runs the tests. */
const ordinary = isRoot ? { uid: 65_534, gid: 65_534 } : {}

const ownerOf = (path: string) => Effect.promise(async () => (await lstat(path)).uid)

describe("EmbeddedPostgres and the accounts of the operating system", () => {
  it.live("runs as an account that is not root and owns only the cluster folder", () =>
    Effect.gen(function* () {
      const dataDir = yield* template.copy
      yield* EmbeddedPostgres.start({ dataDir })
      const here = process.getuid?.()
      for (const name of yield* Effect.promise(() => readdir(dataDir))) {
        const owner = yield* ownerOf(join(dataDir, name))
        if (isRoot && name === "postgres") assert.notStrictEqual(owner, 0)
        else assert.strictEqual(owner, here, name)
      }
      const { stdout } = spawnSync("ps", ["-o", "uid=", "-p", String(yield* serverPid(dataDir))], { encoding: "utf8" })
      assert.strictEqual(Number(stdout), yield* ownerOf(join(dataDir, "postgres")))
    })
  )

  it.live("works in a folder that its server's account cannot reach by path, as below /root", () =>
    Effect.gen(function* () {
      const dataDir = yield* template.copy
      yield* Effect.promise(() => chmod(dirname(dataDir), 0o700))
      const first = yield* service(dataDir)
      yield* write(first.url, "kept")
      const pid = yield* serverPid(dataDir)
      yield* kill(first.child, "SIGKILL")
      const { adopted, url } = yield* EmbeddedPostgres.start({ dataDir })
      assert.isTrue(adopted)
      process.kill(pid, "SIGKILL")
      assert.deepStrictEqual(yield* retrying(read(url)), ["kept"])
      assert.isFalse(isAlive(pid))
    })
  )

  it.live("makes its first start in such a folder too", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataFolder
      yield* Effect.promise(() => chmod(dirname(dataDir), 0o700))
      yield* startAnd(dataDir, ({ url }) => write(url, "kept"))
      yield* Effect.promise(() => chmod(dirname(dataDir), 0o755))
      assert.deepStrictEqual(yield* startAnd(dataDir, ({ url }) => read(url)), ["kept"])
    })
  )

  it.live("keeps the owner of a cluster that another account starts", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataFolder
      if (isRoot) yield* Effect.promise(() => chmod(dirname(dataDir), 0o777))
      const first = yield* service(dataDir, ordinary)
      yield* write(first.url, "1")
      yield* kill(first.child, "SIGKILL")
      const owner = yield* ownerOf(join(dataDir, "postgres"))
      assert.strictEqual(owner, ordinary.uid ?? process.getuid?.())
      yield* startAnd(dataDir, ({ url }) => write(url, "2"))
      assert.strictEqual(yield* ownerOf(join(dataDir, "postgres/PG_VERSION")), owner)
      const again = yield* service(dataDir, ordinary)
      assert.deepStrictEqual(yield* read(again.url), ["1", "2"])
    })
  )
})

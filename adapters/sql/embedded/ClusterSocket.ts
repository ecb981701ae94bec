/**
 * The service reaches its server by a Unix socket in the cluster folder, which costs less than TCP. Not every folder can
 * hold one: its path may be too long, and some shared folders of virtual machines reject sockets. There it is TCP.
 */
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { createServer } from "node:net"
import { platform } from "node:os"
import { join } from "node:path"
import { SOCKET_RULE } from "./ClusterSettings.ts"
import { onDisk, removeLeftovers, writeDurably } from "./Disk.ts"

/** Its path is as long as that of a socket in the cluster folder, which may not exist yet. */
const PROBE = "postgres-.s.PGSQL.probe"

/** Tries it in the data folder. */
export const canHoldSocket = Effect.fnUntraced(function* (dataDir: string) {
  if (platform() === "win32") return false
  yield* removeLeftovers(dataDir, PROBE)
  return yield* Effect.callback<boolean>((resume) => {
    const probe = createServer()
    const end = (works: boolean) => resume(Effect.succeed(works))
    probe.once("error", () => end(false))
    probe.listen(join(dataDir, PROBE), () => probe.close(() => end(true)))
  })
})

/** Lets clients log in over the socket of a cluster that was created before there were sockets. */
export const allowSocket = Effect.fnUntraced(function* (folder: string) {
  const file = join(folder, "pg_hba.conf")
  const rules = yield* onDisk(folder, () => readFile(file, "utf8"))
  if (!rules.includes(SOCKET_RULE)) yield* writeDurably(file, `${rules.trimEnd()}\n${SOCKET_RULE}`, 0o644)
})

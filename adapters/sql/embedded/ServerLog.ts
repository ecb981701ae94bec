/**
 * The server's standard error, in a file of the data folder with a limited size.
 */
import { Effect } from "effect"
import { copyFile, open, stat, truncate } from "node:fs/promises"
import type { Cluster } from "./Cluster.ts"
import { onDisk } from "./Disk.ts"

const LOG_BYTES_MAX = 8 * 1024 * 1024
const TAIL_BYTES_MAX = 16 * 1024

export const logSize = (cluster: Cluster): Effect.Effect<number> =>
  Effect.tryPromise(() => stat(cluster.logFile)).pipe(
    Effect.map(({ size }) => size),
    Effect.orElseSucceed(() => 0)
  )

/** Opened for appending: the server keeps writing at the end after the file was truncated. */
export const openLog = (cluster: Cluster) =>
  Effect.acquireRelease(
    onDisk(cluster.dataDir, () => open(cluster.logFile, "a", 0o600)),
    (handle) => Effect.promise(() => handle.close())
  )

/** Keeps one full file besides the current one. */
export const boundLog = Effect.fnUntraced(function* (cluster: Cluster) {
  if ((yield* logSize(cluster)) < LOG_BYTES_MAX) return
  yield* Effect.tryPromise(async () => {
    await copyFile(cluster.logFile, `${cluster.logFile}.1`)
    await truncate(cluster.logFile)
  }).pipe(Effect.ignore)
})

/** The lines written since the file had `from` bytes; only the last of them if there are many. */
export const logSince = (cluster: Cluster, from: number): Effect.Effect<ReadonlyArray<string>> =>
  Effect.tryPromise(async () => {
    const handle = await open(cluster.logFile, "r")
    try {
      const { size } = await handle.stat()
      const start = Math.max(from, size - TAIL_BYTES_MAX)
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(TAIL_BYTES_MAX), 0, TAIL_BYTES_MAX, start)
      return buffer
        .toString("utf8", 0, bytesRead)
        .split("\n")
        .filter((line) => line !== "")
    } finally {
      await handle.close()
    }
  }).pipe(Effect.orElseSucceed(() => []))

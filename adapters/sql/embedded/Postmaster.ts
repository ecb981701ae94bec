/**
 * The server's main process as the operating system shows it: its identity, whether it runs, how to stop it. A process
 * id alone is no evidence, because ids are reused: the process must have this cluster folder as working directory.
 */
import { Duration, Effect } from "effect"
import { readdir, readFile, rm, stat } from "node:fs/promises"
import { platform } from "node:os"
import { join } from "node:path"
import type { Cluster } from "./Cluster.ts"
import { run } from "./Command.ts"

export interface PostmasterFile {
  readonly pid: number
  readonly port: number
  readonly status: string
}

/** What the running server, or the last one, reports about itself. */
export const postmasterFile = (cluster: Cluster): Effect.Effect<PostmasterFile | undefined> =>
  Effect.tryPromise(() => readFile(join(cluster.folder, "postmaster.pid"), "utf8")).pipe(
    Effect.map((text) => {
      const lines = text.split("\n")
      const pid = Math.abs(Number(lines[0]))
      if (!Number.isSafeInteger(pid) || pid < 2) return undefined
      return { pid, port: Number(lines[3]), status: (lines[7] ?? "").trim() }
    }),
    Effect.orElseSucceed(() => undefined)
  )

/** A zombie has no working directory, so it does not count. */
export const isServerOf = (pid: number, cluster: Cluster): Effect.Effect<boolean> =>
  platform() === "linux"
    ? runsIn(pid, cluster.folder)
    : Effect.map(
        run({
          file: "ps",
          args: ["-ww", "-o", "state=,command=", "-p", String(pid)],
          folder: "/",
          account: undefined,
          secondsMax: 10
        }),
        ({ ok, output }) => ok && !output.startsWith("Z") && output.includes(`postgres -D ${cluster.folder}`)
      )

/** A cheap check for polling a known process many times a second. */
export const isRunning = (pid: number, cluster: Cluster): Effect.Effect<boolean> =>
  platform() === "linux" ? runsIn(pid, cluster.folder) : Effect.sync(() => signal(pid, 0))

/** PostgreSQL's fast shutdown, then its immediate shutdown, then SIGKILL. Committed data survives each of them. */
export const stopServer = Effect.fnUntraced(function* (pid: number, cluster: Cluster) {
  for (const [name, seconds] of STOPS) {
    if (!(yield* isServerOf(pid, cluster))) return
    signal(pid, name)
    if (yield* hasEnded(pid, cluster, seconds)) return
  }
  yield* Effect.logError(`PostgreSQL (process ${pid}) does not end`)
})

const STOPS = [
  ["SIGINT", 6],
  ["SIGQUIT", 6],
  ["SIGKILL", 2]
] as const

/** PostgreSQL does not start while its file names any living process of its account. */
export const dropForeignFile = Effect.fnUntraced(function* (cluster: Cluster) {
  const file = yield* postmasterFile(cluster)
  if (file === undefined || !signal(file.pid, 0) || (yield* isServerOf(file.pid, cluster))) return
  yield* Effect.tryPromise(() => rm(join(cluster.folder, "postmaster.pid"))).pipe(Effect.ignore)
})

/** Kills processes that a killed server left in the folder. Without the server they cannot write durable data. */
export const killOrphans = Effect.fnUntraced(function* (cluster: Cluster) {
  if (platform() !== "linux") return
  const names = yield* Effect.tryPromise(() => readdir("/proc")).pipe(Effect.orElseSucceed(() => []))
  for (const pid of names.filter((name) => /^\d+$/u.test(name)).map(Number)) {
    if (yield* runsIn(pid, cluster.folder)) signal(pid, "SIGKILL")
  }
})

const runsIn = (pid: number, folder: string): Effect.Effect<boolean> =>
  Effect.tryPromise(async () => {
    if ((await readFile(`/proc/${pid}/comm`, "utf8")).trim() !== "postgres") return false
    const [there, here] = await Promise.all([stat(`/proc/${pid}/cwd`), stat(folder)])
    return there.ino === here.ino && there.dev === here.dev
  }).pipe(Effect.orElseSucceed(() => false))

const hasEnded = (pid: number, cluster: Cluster, seconds: number): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    while (yield* isRunning(pid, cluster)) yield* Effect.sleep("20 millis")
    return true
  }).pipe(Effect.timeoutOrElse({ duration: Duration.seconds(seconds), orElse: () => Effect.succeed(false) }))

const signal = (pid: number, name: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, name)
  } catch (cause) {
    // EPERM: the process belongs to another account and is alive.
    return cause instanceof Error && "code" in cause && cause.code === "EPERM"
  }
}

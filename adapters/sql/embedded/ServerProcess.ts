/**
 * Starts PostgreSQL's server process for a cluster, and identifies and stops one that runs. A process id alone is no
 * evidence, because ids are reused: the process must have the cluster folder as working directory.
 */
import { PgConnection } from "@effect/sql-pg"
import { Duration, Effect, Redacted } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import { copyFile, open, readdir, readFile, rm, stat, truncate } from "node:fs/promises"
import { createServer } from "node:net"
import { platform } from "node:os"
import { join } from "node:path"
import { type Cluster, DATABASE, isDiskFull, ROLE } from "./Cluster.ts"
import { allowSocket, settings, SETTINGS_FILE } from "./ClusterSettings.ts"
import { environment, identity, run } from "./Command.ts"
import { onDisk, writeDurably } from "./Disk.ts"
import { DiskFull, PortTaken, StartFailed, StillInUse } from "./EmbeddedPostgresError.ts"

interface PostmasterFile {
  readonly pid: number
  readonly port: number
  readonly status: string
}

/** Reads what the running server, or the last one, reports about itself. */
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
const killOrphans = Effect.fnUntraced(function* (cluster: Cluster) {
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

// The server's standard error goes to a file of the data folder with a limited size.

const LOG_BYTES_MAX = 8 * 1024 * 1024
const TAIL_BYTES_MAX = 16 * 1024

const logSize = (cluster: Cluster): Effect.Effect<number> =>
  Effect.tryPromise(() => stat(cluster.logFile)).pipe(
    Effect.map(({ size }) => size),
    Effect.orElseSucceed(() => 0)
  )

/** Opened for appending: the server keeps writing at the end after the file was truncated. */
const openLog = (cluster: Cluster) =>
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
const logSince = (cluster: Cluster, from: number): Effect.Effect<ReadonlyArray<string>> =>
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

// Starts one server process for a cluster and waits until it accepts the service's password.

/** Recovery after a crash reads up to max_wal_size of log, which takes time on a slow disk. */
const START_SECONDS_MAX = 180
const ORPHAN_TRIES_MAX = 20
const ORPHAN_TRIES_PATIENT = 4

export const urlOf = (cluster: Cluster, role: string, port: number): Redacted.Redacted<string> => {
  const host = cluster.hasSocket ? encodeURIComponent(cluster.folder) : "127.0.0.1"
  return Redacted.make(`postgres://${role}:${Redacted.value(cluster.password)}@${host}:${port}/${DATABASE}`)
}

export const settingsOf = (cluster: Cluster, port: number): string =>
  settings({ port, version: cluster.binaries.version, hasSocket: cluster.hasSocket })

/** Calls `spawned` as soon as the process exists, so that a caller interrupted meanwhile can still stop it. */
export const launch = Effect.fnUntraced(function* (cluster: Cluster, port: number, spawned: OnSpawned) {
  yield* requireFreePort(port)
  yield* writeDurably(join(cluster.folder, SETTINGS_FILE), settingsOf(cluster, port), 0o644)
  if (cluster.hasSocket) yield* allowSocket(cluster.folder)
  for (let tries = 1; ; tries++) {
    const started = yield* Effect.result(launchOnce(cluster, port, spawned))
    if (started._tag === "Success") return started.success
    if (started.failure._tag !== "StillInUse" || tries === ORPHAN_TRIES_MAX) return yield* started.failure
    if (tries >= ORPHAN_TRIES_PATIENT) yield* killOrphans(cluster)
    yield* Effect.sleep("500 millis")
  }
})

export const answers = (cluster: Cluster, port: number): Effect.Effect<"yes" | "password refused" | "no"> =>
  Effect.scoped(PgConnection.make({ url: urlOf(cluster, ROLE, port), connectTimeout: "5 seconds" })).pipe(
    Effect.as("yes" as const),
    Effect.catch((error) =>
      Effect.succeed(error.reason._tag === "AuthenticationError" ? ("password refused" as const) : ("no" as const))
    )
  )

/**
 * The operating system would choose from a range that also serves outgoing connections, so that a client that connects
 * while the server is down could occupy the very port.
 */
export const somePort: Effect.Effect<number> = Effect.sync(() => randomInt(20_000, 32_000))

const requireFreePort = (port: number): Effect.Effect<void, PortTaken> =>
  Effect.callback((resume) => {
    const probe = createServer()
    probe.once("error", () => resume(Effect.fail(new PortTaken({ port }))))
    probe.listen({ port, host: "127.0.0.1" }, () => probe.close(() => resume(Effect.void)))
  })

const launchOnce = Effect.fnUntraced(function* (cluster: Cluster, port: number, spawned: OnSpawned) {
  yield* dropForeignFile(cluster)
  const before = yield* logSize(cluster)
  const child = yield* spawnServer(cluster, spawned)
  cluster.onProcess?.()
  yield* untilReady(cluster, port, child, before).pipe(
    Effect.timeoutOrElse({
      duration: `${START_SECONDS_MAX} seconds`,
      orElse: () => failed(cluster, `it was not ready within ${START_SECONDS_MAX} seconds`)
    }),
    Effect.onError(() => stopServer(child.pid, cluster))
  )
  return child.pid
})

/** Detached: Ctrl-C in a terminal reaches only the service, which stops its server in order. */
const spawnServer = (cluster: Cluster, spawned: OnSpawned) =>
  Effect.scoped(
    Effect.flatMap(openLog(cluster), (log) =>
      Effect.callback<RunningChild, StartFailed>((resume) => {
        const child = spawn(cluster.binaries.postgres, ["-D", cluster.folderForServer], {
          cwd: cluster.folder,
          env: environment,
          detached: true,
          stdio: ["ignore", log.fd, log.fd],
          ...identity(cluster.account)
        })
        child.once("error", (cause) =>
          resume(Effect.fail(new StartFailed({ problem: cause.message, logFile: cluster.logFile })))
        )
        if (hasPid(child)) {
          child.unref()
          spawned(child.pid, exitOf(child))
          resume(Effect.succeed(child))
        }
      })
    )
  )

/** `exit` waits until the process has ended. */
type OnSpawned = (pid: number, exit: Effect.Effect<void>) => void

const exitOf = (child: ChildProcess): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const end = () => resume(Effect.void)
    if (child.exitCode !== null || child.signalCode !== null) return end()
    child.once("exit", end)
    return Effect.sync(() => child.off("exit", end))
  })

type RunningChild = ChildProcess & { readonly pid: number }

const hasPid = (child: ChildProcess): child is RunningChild => child.pid !== undefined

const untilReady = Effect.fnUntraced(function* (cluster: Cluster, port: number, child: RunningChild, logStart: number) {
  while (child.exitCode === null && child.signalCode === null) {
    const file = yield* postmasterFile(cluster)
    if (file?.pid === child.pid && file.status === "ready") {
      const answer = yield* answers(cluster, port)
      if (answer === "yes") return
      if (answer === "password refused") return yield* failed(cluster, PASSWORD_REJECTED)
    }
    yield* Effect.sleep("10 millis")
  }
  return yield* rejectionOf(cluster, port, yield* logSince(cluster, logStart))
})

const PASSWORD_REJECTED = "it rejects the password in postgres.password; delete that file to create a new password"

const rejectionOf = (cluster: Cluster, port: number, lines: ReadonlyArray<string>) => {
  const text = lines.join("\n")
  if (/pre-existing shared memory block|lock file "postmaster.pid" already exists/u.test(text)) {
    return new StillInUse({ folder: cluster.folder })
  }
  if (/Address already in use/u.test(text)) return new PortTaken({ port })
  if (isDiskFull(text)) return new DiskFull({ folder: cluster.dataDir })
  const telling =
    lines.findLast((line) => /FATAL:|PANIC:/u.test(line)) ?? (lines.slice(-3).join(" ") || "it wrote no error message")
  return failed(cluster, telling.replace(/^.*?(?:FATAL|PANIC):\s*/u, ""))
}

const failed = (cluster: Cluster, problem: string): StartFailed =>
  new StartFailed({ problem, logFile: cluster.logFile })

/**
 * Starts one server process for a cluster and waits until it accepts the service's password.
 */
import { PgConnection } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import { createServer } from "node:net"
import { join } from "node:path"
import { type Cluster, DATABASE, isDiskFull, ROLE } from "./Cluster.ts"
import { allowSocket } from "./ClusterSocket.ts"
import { environment, identity, OnProcess } from "./Command.ts"
import { writeDurably } from "./Disk.ts"
import { DiskFull, PortTaken, StartFailed, StillInUse } from "./EmbeddedPostgresError.ts"
import { dropForeignFile, killOrphans, postmasterFile, stopServer } from "./Postmaster.ts"
import { logSince, logSize, openLog } from "./ServerLog.ts"
import { settings, SETTINGS_FILE } from "./ClusterSettings.ts"

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

/** Whether the server on this port accepts the service's password. */
export const answers = (cluster: Cluster, port: number): Effect.Effect<"yes" | "password refused" | "no"> =>
  Effect.scoped(PgConnection.make({ url: urlOf(cluster, ROLE, port), connectTimeout: "5 seconds" })).pipe(
    Effect.as("yes" as const),
    Effect.catch((error) =>
      Effect.succeed(error.reason._tag === "AuthenticationError" ? ("password refused" as const) : ("no" as const))
    )
  )

/**
 * Not the operating system's choice: its range also serves outgoing connections, so that a client that connects while
 * the server is down could occupy the very port.
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
  const onProcess = yield* OnProcess
  onProcess()
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

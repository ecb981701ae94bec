/**
 * Keeps one server running for a cluster, on one port: takes over the server of an earlier service or starts one,
 * restarts it when it dies, and stops it when the scope closes.
 */
import { Deferred, Effect, type Scope } from "effect"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { monotonicNowMs } from "../../../domain/shared/Time.ts"
import { type Cluster, renewPassword } from "./Cluster.ts"
import { SETTINGS_FILE } from "./ClusterSettings.ts"
import { type Reason, StoppedTooOften } from "./EmbeddedPostgresError.ts"
import {
  answers,
  boundLog,
  dropForeignFile,
  isRunning,
  isServerOf,
  launch,
  postmasterFile,
  settingsOf,
  somePort,
  stopServer
} from "./ServerProcess.ts"

interface Supervised {
  readonly port: number
  readonly adopted: boolean
  readonly failed: Effect.Effect<never, Reason>
}

const RESTARTS_MAX = 10
const RESTART_AFTER_MS = 100
/** The system reports the end of a server that this process started. A server that was taken over is checked. */
const CHECK_ADOPTED_MS = 500
const CHECK_MS = 5_000
const BACKOFF_MS_MAX = 5_000
/** The count of failures starts again after this uptime. */
const STABLE_MS = 1_000
const ADOPTION_SECONDS_MAX = 30
const PORT_TRIES_MAX = 20

export const supervise = Effect.fnUntraced(function* (
  cluster: Cluster,
  wantedPort: number | undefined
): Effect.fn.Return<Supervised, Reason, Scope.Scope> {
  const current: Current = { pid: undefined, exit: undefined }
  yield* Effect.addFinalizer(() => (current.pid === undefined ? Effect.void : stopServer(current.pid, cluster)))
  const adopted = yield* adopt(cluster, wantedPort, current)
  const port = adopted ?? (yield* firstLaunch(cluster, wantedPort, current))
  const failed = yield* Deferred.make<never, Reason>()
  yield* watch(cluster, port, current).pipe(
    Effect.catch((reason) => Deferred.fail(failed, reason)),
    Effect.forkScoped
  )
  return { port, adopted: adopted !== undefined, failed: Deferred.await(failed) }
})

/** The process to stop at the end, known from the moment it exists. */
interface Current {
  pid: number | undefined
  /** Waits for its end, if this process started it. */
  exit: Effect.Effect<void> | undefined
}

const started =
  (current: Current) =>
  (pid: number, exit: Effect.Effect<void>): void => {
    current.pid = pid
    current.exit = exit
  }

/**
 * The port of a server that runs in the folder, accepts the password and has the same settings; stops any other server.
 */
const adopt = Effect.fnUntraced(function* (cluster: Cluster, wantedPort: number | undefined, current: Current) {
  const found = yield* postmasterFile(cluster)
  if (found === undefined || !(yield* isServerOf(found.pid, cluster))) return undefined
  current.pid = found.pid
  const port = yield* settled(cluster, found.pid).pipe(
    Effect.timeoutOrElse({ duration: `${ADOPTION_SECONDS_MAX} seconds`, orElse: () => Effect.undefined })
  )
  if (
    port !== undefined &&
    (wantedPort ?? port) === port &&
    !cluster.passwordIsNew &&
    (yield* hasSettings(cluster, port)) &&
    (yield* answers(cluster, port)) === "yes"
  ) {
    yield* Effect.logInfo(`Took over the running PostgreSQL (process ${found.pid}, port ${port})`)
    return port
  }
  yield* stopServer(found.pid, cluster)
  current.pid = undefined
  return undefined
})

/** The server's port once it is ready; `undefined` if it ends first. */
const settled = Effect.fnUntraced(function* (cluster: Cluster, pid: number) {
  while (yield* isRunning(pid, cluster)) {
    const file = yield* postmasterFile(cluster)
    if (file?.pid === pid && file.status === "ready") return file.port
    yield* Effect.sleep("20 millis")
  }
  return undefined
})

const hasSettings = (cluster: Cluster, port: number): Effect.Effect<boolean> =>
  Effect.tryPromise(() => readFile(join(cluster.folder, SETTINGS_FILE), "utf8")).pipe(
    Effect.map((text) => text === settingsOf(cluster, port)),
    Effect.orElseSucceed(() => false)
  )

const firstLaunch = Effect.fnUntraced(function* (cluster: Cluster, wantedPort: number | undefined, current: Current) {
  if (cluster.passwordIsNew) yield* Effect.andThen(dropForeignFile(cluster), renewPassword(cluster))
  for (let tries = 1; ; tries++) {
    const port = wantedPort ?? (yield* somePort)
    const first = yield* Effect.result(launch(cluster, port, started(current)))
    if (first._tag === "Success") return port
    if (first.failure._tag !== "PortTaken" || wantedPort !== undefined || tries === PORT_TRIES_MAX) {
      return yield* first.failure
    }
  }
})

const watch = Effect.fnUntraced(function* (cluster: Cluster, port: number, current: Current) {
  let failures = 0
  let problem = "It stopped again immediately after it had started."
  let upSince: number | undefined = yield* monotonicNowMs
  while (true) {
    yield* endOf(current)
    const runs = current.pid !== undefined && (yield* isRunning(current.pid, cluster))
    if (upSince !== undefined && (yield* monotonicNowMs) - upSince > STABLE_MS) failures = 0
    if (runs) {
      yield* boundLog(cluster)
      continue
    }
    if (failures === RESTARTS_MAX) return yield* new StoppedTooOften({ attempts: RESTARTS_MAX, problem })
    if (failures > 0) yield* Effect.sleep(Math.min(RESTART_AFTER_MS * 2 ** failures, BACKOFF_MS_MAX))
    failures++
    yield* Effect.logWarning(`PostgreSQL has ended; starting it again (attempt ${failures} of ${RESTARTS_MAX})`)
    const again = yield* Effect.result(launch(cluster, port, started(current)))
    if (again._tag === "Failure") {
      problem = again.failure.message
      yield* Effect.logWarning(problem)
    }
    upSince = again._tag === "Success" ? yield* monotonicNowMs : undefined
  }
})

/** Waits until the server may have ended, or until the next check of its log is due. */
const endOf = ({ exit }: Current): Effect.Effect<void> =>
  exit === undefined
    ? Effect.sleep(CHECK_ADOPTED_MS)
    : Effect.raceFirst(Effect.andThen(exit, Effect.sleep(RESTART_AFTER_MS)), Effect.sleep(CHECK_MS))

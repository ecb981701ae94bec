/**
 * Everything that a process reads and does before the modules of the service are loaded: its configuration, the end of
 * its launcher, and PostgreSQL.
 */
import { Effect, Schedule } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { parseEnv } from "node:util"
import { guessOf, misspelledName } from "../domain/shared/NearestName.ts"
import { ConfigInvalid, type Needs, readConfig, type Source, workersOf } from "./config/AppConfig.ts"
import { settings } from "./config/Settings.ts"
import { withEarlyPostgres } from "./layers/EarlyPostgres.ts"

/** Reads flags before the environment before `.env`. No other function reads the last two. */
export const configOfProcess = Effect.fnUntraced(function* (flags: Source, needs: Needs = "everything") {
  const dotEnv = existsSync(".env") ? yield* checkedDotEnv(readFileSync(".env", "utf8")) : {}
  return yield* Effect.fromResult(readConfig([flags, process.env, dotEnv], needs))
})

/** The file may be shared with other programs: a name is rejected if it is almost that of a setting. */
export const checkedDotEnv = (text: string): Effect.Effect<Source, ConfigInvalid> => {
  const values = parseEnv(text)
  const faults = Object.entries(values).flatMap(([name, value]) => {
    const isOther = value === "" || Object.hasOwn(settings, name)
    const nearest = isOther ? undefined : misspelledName(name, Object.keys(settings))
    return nearest === undefined ? [] : [`${name}: Unknown setting.${guessOf([nearest])}`]
  })
  return faults.length === 0 ? Effect.succeed(values) : Effect.fail(new ConfigInvalid({ faults }))
}

/** Runs the service until it is stopped or fails: in this process, or in workers. */
export const serve = Effect.fnUntraced(function* (flags: Source) {
  const config = yield* configOfProcess(flags)
  const loaded = Effect.promise(() => import("./Serve.ts"))
  // A closed terminal and its shell may each send one.
  process.on("SIGHUP", stop)
  // The parent of a worker has a channel to it, as other parents may.
  if (process.send !== undefined) {
    const { workerLink } = yield* Effect.promise(() => import("./layers/WorkerLink.ts"))
    const link = yield* workerLink(process.env)
    if (link !== undefined) return yield* Effect.flatMap(loaded, ({ serve }) => serve(config, link))
  }
  yield* stopWithLauncher(process.env)
  const workers = workersOf(config)
  if (workers > 1) {
    const { supervise } = yield* Effect.promise(() => import("./Workers.ts"))
    return yield* supervise(config, workers)
  }
  return yield* withEarlyPostgres(
    config,
    Effect.flatMap(loaded, ({ serve }) => serve(config))
  )
}, Effect.scoped)

const WATCH_EVERY = "500 millis"

/**
 * Ends `npm start` together with npm. npm passes SIGTERM and SIGINT to its child, which is the service if the shell
 * between them was replaced (`exec`), or a shell that passes on neither. It passes no SIGHUP, and on SIGKILL nothing.
 * So the service watches npm, and the shell if there is one, and stops, as on SIGTERM, when either is gone. Closing the
 * terminal stops it cleanly, too. Only npm is watched: a service may outlive a shell that started it by hand.
 */
const stopWithLauncher = Effect.fnUntraced(function* (environment: Source) {
  if (environment["npm_lifecycle_event"] === undefined) return
  const parent = process.ppid
  // Without a shell, the parent's parent is the process that started npm, which may end.
  const npm = isShell(parent) ? parentOf(parent) : undefined
  yield* Effect.sync(() => process.ppid !== parent || (npm !== undefined && parentOf(parent) !== npm)).pipe(
    Effect.repeat({ until: (isGone) => isGone, schedule: Schedule.spaced(WATCH_EVERY) }),
    Effect.andThen(Effect.sync(stop)),
    Effect.forkChild
  )
})

const stop = (): void => void process.kill(process.pid, "SIGTERM")

const isShell = (pid: number): boolean => /^[a-z]*sh$/u.test(field(pid, "Name") ?? "")

const parentOf = (pid: number): string | undefined => field(pid, "PPid")

/** Systems without /proc have none. */
const field = (pid: number, name: string): string | undefined => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8")
    return new RegExp(`^${name}:\\s*(.*)$`, "mu").exec(status)?.[1]
  } catch {
    return undefined
  }
}

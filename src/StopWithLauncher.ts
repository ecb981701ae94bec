/**
 * `npm start` runs the service in a shell of its own. npm passes SIGTERM to that shell, which ends without passing it on,
 * and passes no SIGHUP at all: so the service watches both, and stops when either is gone. A terminal that is closed stops
 * it in good order, too.
 */
import { Effect, Schedule } from "effect"
import { readFileSync } from "node:fs"

const WATCH_EVERY = "500 millis"

/** As if SIGTERM had come. Only npm is watched: a service may outlive a shell that it was started from by hand. */
export const stopWithLauncher = Effect.fnUntraced(function* (
  environment: Readonly<Record<string, string | undefined>>
) {
  process.once("SIGHUP", stop)
  if (environment["npm_lifecycle_event"] === undefined) return
  const shell = process.ppid
  const npm = parentOf(shell)
  yield* Effect.sync(() => process.ppid !== shell || parentOf(shell) !== npm).pipe(
    Effect.repeat({ until: (isGone) => isGone, schedule: Schedule.spaced(WATCH_EVERY) }),
    Effect.andThen(Effect.sync(stop)),
    Effect.forkChild
  )
})

const stop = (): void => void process.kill(process.pid, "SIGTERM")

/** Undefined where the system does not show it in files. */
const parentOf = (pid: number): string | undefined => {
  try {
    return /^PPid:\s*(\d+)$/mu.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
  } catch {
    return undefined
  }
}

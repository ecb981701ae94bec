/**
 * `npm start` ends with npm. npm passes SIGTERM and SIGINT to what it started, which is the service where the shell between
 * them is replaced (`exec`), and else a shell that passes neither on. It passes no SIGHUP, and SIGKILL gives it no time to.
 * So the service watches npm, and the shell where there is one, and stops when either is gone. A terminal that is closed
 * stops it in good order, too.
 */
import { Effect, Schedule } from "effect"
import { readFileSync } from "node:fs"

const WATCH_EVERY = "500 millis"

/** As if SIGTERM had come. Only npm is watched: a service may outlive a shell that it was started from by hand. */
export const stopWithLauncher = Effect.fnUntraced(function* (
  environment: Readonly<Record<string, string | undefined>>
) {
  // A closed terminal and its shell may each send one.
  process.on("SIGHUP", stop)
  if (environment["npm_lifecycle_event"] === undefined) return
  const parent = process.ppid
  // Without a shell, the parent's parent is whatever npm was started from, which may end.
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

/** Undefined where the system does not show it in files. */
const field = (pid: number, name: string): string | undefined => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8")
    return new RegExp(`^${name}:\\s*(.*)$`, "mu").exec(status)?.[1]
  } catch {
    return undefined
  }
}

/**
 * Ends `npm start` together with npm. npm passes SIGTERM and SIGINT to its child, which is the service if the shell
 * between them was replaced (`exec`), or a shell that passes on neither. It passes no SIGHUP, and on SIGKILL nothing.
 * So the service watches npm, and the shell if there is one, and stops when either is gone. Closing the terminal stops
 * it cleanly, too.
 */
import { Effect, Schedule } from "effect"
import { readFileSync } from "node:fs"

const WATCH_EVERY = "500 millis"

/** Behaves like SIGTERM. Only npm is watched: a service may outlive a shell that started it by hand. */
export const stopWithLauncher = Effect.fnUntraced(function* (
  environment: Readonly<Record<string, string | undefined>>
) {
  // A closed terminal and its shell may each send one.
  process.on("SIGHUP", stop)
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

/** Undefined on systems without /proc. */
const field = (pid: number, name: string): string | undefined => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8")
    return new RegExp(`^${name}:\\s*(.*)$`, "mu").exec(status)?.[1]
  } catch {
    return undefined
  }
}

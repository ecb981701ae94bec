/**
 * Servers of a bench in processes of their own; each is ended by its own id.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"

export interface Running {
  readonly port: number
  readonly pid: number
  stop(): Promise<void>
}

const READY_WITHIN_MS = 120_000

/** Starts a script of the project and waits until `ready` matches a line of its output; the first group is the port. */
export const startScript = (
  args: ReadonlyArray<string>,
  ready: RegExp,
  env: Readonly<Record<string, string>> = {}
): Promise<Running> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, DEMO_PROVIDER: "off", ...env }
    })
    let output = ""
    const timer = setTimeout(() => fail("was not ready in time"), READY_WITHIN_MS)
    const fail = (why: string) => {
      clearTimeout(timer)
      child.kill("SIGKILL")
      reject(new Error(`${args.join(" ")} ${why}:\n${output}`))
    }
    const look = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-10_000)
      const match = ready.exec(output)
      if (match === null) return
      clearTimeout(timer)
      child.off("exit", exited)
      resolve({ port: Number(match[1]), pid: child.pid!, stop: () => stop(child) })
    }
    const exited = () => fail("ended early")
    child.stdout.on("data", look)
    child.stderr.on("data", look)
    child.once("exit", exited)
  })

const stop = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once("exit", () => resolve())
    child.kill("SIGINT")
    setTimeout(() => child.kill("SIGKILL"), 15_000).unref()
  })

/** Of all its threads, since it was started. */
export const cpuSeconds = (pid: number): number => {
  const { system, user } = statOf(pid)
  return user + system
}

/**
 * Of the processes that it started and their descendants, such as those of its PostgreSQL. What ended is counted by
 * the parent that waited for it.
 */
export const descendantCpuSeconds = (pid: number): number => {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .flatMap((name) => {
      try {
        return [{ pid: Number(name), ...statOf(Number(name)) }]
      } catch {
        // It ended meanwhile.
        return []
      }
    })
  const below = (parent: number): number =>
    all
      .filter((one) => one.parent === parent)
      .reduce((sum, one) => sum + one.user + one.system + one.waitedFor + below(one.pid), 0)
  return below(pid)
}

const TICKS_PER_SECOND = 100

const statOf = (pid: number) => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ")
  const seconds = (field: number) => Number(fields[field]) / TICKS_PER_SECOND
  return { parent: Number(fields[1]), user: seconds(11), system: seconds(12), waitedFor: seconds(13) + seconds(14) }
}

export const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024

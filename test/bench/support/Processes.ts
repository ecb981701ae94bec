/**
 * Servers of a bench in processes of their own; each is ended by its own id.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync } from "node:fs"

export interface Running {
  readonly port: number
  readonly pid: number
  stop(): Promise<void>
}

const READY_WITHIN_MS = 30_000

/** Starts a script of the project and waits until `ready` matches a line of its output; the first group is the port. */
export const startScript = (
  args: ReadonlyArray<string>,
  ready: RegExp,
  env: Readonly<Record<string, string>> = {},
  cwd = process.cwd()
): Promise<Running> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, DEMO_PROVIDER: "off", ...env },
      cwd
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
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ")
  return (Number(fields[11]) + Number(fields[12])) / 100
}

export const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024

/**
 * A process between a test run and its PostgreSQL: creates the cluster, runs the server, and when its standard input
 * ends, in any way, stops the server and removes the folder.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { rm } from "node:fs/promises"

export interface Orders {
  /** Removed in the end. */
  readonly folder: string
  readonly account: { readonly uid: number; readonly gid: number } | undefined
  readonly environment: Readonly<Record<string, string>>
  readonly initdb: ReadonlyArray<string>
  readonly server: ReadonlyArray<string>
}

const PATIENCE_MS = 5_000

const orders = JSON.parse(process.argv[2] ?? "") as Orders
let current: ChildProcess | undefined
let isOver = false

const end = () => {
  if (isOver) return
  isOver = true
  // Immediate shutdown: nothing of it is kept.
  current?.kill("SIGQUIT")
  setTimeout(() => current?.kill("SIGKILL"), PATIENCE_MS).unref()
}

const run = ([file = "", ...args]: ReadonlyArray<string>): Promise<boolean> =>
  new Promise((resolve) => {
    if (isOver) return resolve(false)
    current = spawn(file, args, {
      cwd: orders.folder,
      env: orders.environment,
      stdio: ["ignore", process.stdout, process.stdout],
      ...orders.account
    })
    current.once("error", () => resolve(false))
    current.once("exit", (code) => resolve(code === 0))
  })

process.stdin.on("end", end).on("error", end).resume()
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, end)

if (await run(orders.initdb)) await run(orders.server)
await rm(orders.folder, { recursive: true, force: true, maxRetries: 5 })
process.exit()

/**
 * A real PgBouncer in front of a database, where the machine has one.
 */
import { Effect, Redacted } from "effect"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { environment, identity, serverAccount } from "../../../adapters/sql/embedded/Command.ts"
import { freePort } from "./FreePort.ts"

export const NO_PGBOUNCER = "there is no pgbouncer on this machine (Debian and Ubuntu: apt-get install pgbouncer)"

const PATHS = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin" }

export const isPgBouncerHere = (): boolean => spawnSync("pgbouncer", ["--version"], { env: PATHS }).status === 0

/** Returns the database's URL through it. */
export const pgBouncer = Effect.fnUntraced(function* (
  database: Redacted.Redacted,
  settings: Readonly<Record<string, string>>
) {
  const to = new URL(Redacted.value(database))
  const port = yield* freePort
  // Like PostgreSQL, it does not run as root.
  const account = yield* serverAccount("/nonexistent")
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "agent-tool-billing-pgbouncer-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
  )
  const own = {
    listen_addr: "127.0.0.1",
    listen_port: String(port),
    unix_socket_dir: "",
    auth_type: "any",
    ...settings
  }
  yield* Effect.promise(async () => {
    const file = join(folder, "pgbouncer.ini")
    const password = decodeURIComponent(to.password)
    const backend = `host=${to.hostname} port=${to.port} user=${to.username} password=${password}`
    const lines = Object.entries(own).map(([name, value]) => `${name} = ${value}`)
    await writeFile(file, ["[databases]", `* = ${backend}`, "[pgbouncer]", ...lines, ""].join("\n"), { mode: 0o600 })
    if (account === undefined) return
    await chown(file, account.uid, account.gid)
    await chown(folder, account.uid, account.gid)
    await chmod(folder, 0o700)
  })
  yield* Effect.acquireRelease(
    Effect.callback<ChildProcess>((resume) => {
      const child = spawn("pgbouncer", [join(folder, "pgbouncer.ini")], {
        cwd: "/",
        stdio: ["ignore", "ignore", "pipe"],
        env: { ...environment, ...PATHS },
        ...identity(account)
      })
      let output = ""
      child.stderr.on("data", (chunk: Buffer) => {
        output += chunk.toString("utf8")
        if (output.includes("process up")) resume(Effect.succeed(child))
      })
      child.once("exit", () => resume(Effect.die(new Error(`PgBouncer did not start: ${output}`))))
    }),
    (child) =>
      Effect.callback<void>((resume) => {
        if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
        child.once("exit", () => resume(Effect.void))
        child.kill("SIGKILL")
      })
  )
  const through = new URL(to)
  through.port = String(port)
  return Redacted.make(through.href)
})

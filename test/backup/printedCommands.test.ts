/**
 * The commands that docs/backup.md prints, run as they are.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { callLoad } from "../support/load/CallLoad.ts"
import { echoProvider } from "../support/load/EchoProvider.ts"
import { loadMarket, OPEN_TO_LOAD } from "../support/load/LoadMarket.ts"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { NO_TOOLS, toolsHere } from "../support/backup/PostgresTools.ts"
import { serviceBundle } from "../support/servers/ServiceBundle.ts"
import { ready, temporaryFolder } from "../support/servers/ServiceProcess.ts"
import { temporaryPostgres } from "../support/servers/TemporaryPostgres.ts"
import { connectedTo, createDatabase, urlOf } from "../support/servers/TestDatabases.ts"

const PAGE = join(import.meta.dirname, "../../docs/backup.md")
const KEYS = {
  RECEIPT_SIGNING_SECRET: "a secret of the tests, 32 characters or more",
  LOG_SIGNING_KEY: "570d".repeat(16)
}
const CALLS = 20
const COMMAND_MS_MAX = 120_000

const printed = (): ReadonlyArray<string> =>
  /^```sh\n(?<lines>pg_dump[^`]*)```$/mu.exec(readFileSync(PAGE, "utf8"))!.groups!["lines"]!.trim().split("\n")

const shell = (line: string, cwd: string, env: Readonly<Record<string, string>>) =>
  Effect.callback<{ readonly code: number; readonly output: string }>((resume) => {
    const options = { cwd, env: { HOME: process.env["HOME"], ...env }, timeout: COMMAND_MS_MAX }
    const child = execFile("bash", ["-c", line], options, (error, stdout, stderr) =>
      resume(Effect.succeed({ code: error === null ? 0 : Number(error.code ?? -1), output: stdout + stderr }))
    )
    return Effect.sync(() => child.kill("SIGKILL"))
  })

it.live(
  "the printed commands dump a database in use, restore it and check it",
  (ctx) =>
    Effect.gen(function* () {
      const programs = toolsHere()
      if (programs === undefined) return ctx.skip(NO_TOOLS)
      const server = yield* temporaryPostgres({ programs })
      const admin = Redacted.value(server.url)
      yield* createDatabase("market", "template0").pipe(connectedTo(server.url))
      const [market, restored] = [urlOf({ adminUrl: admin }, "market"), urlOf({ adminUrl: admin }, "market_restored")]
      const DATABASE_URL = Redacted.value(market)
      const service = yield* ready({ ...OPEN_TO_LOAD, ...KEYS, DATABASE_URL, PAYMENTS: "dry_run", LOG_LEVEL: "Error" })
      const provider = yield* echoProvider
      const load = yield* callLoad({ ...(yield* loadMarket(service.url, provider)), url: service.url, connections: 4 })
      yield* until(
        "calls are answered",
        Effect.sync(() => load.heard.acknowledged.length >= CALLS)
      )

      const cwd = yield* temporaryFolder
      const { main } = yield* Effect.promise(serviceBundle)
      const scripts = { cli: `node ${main}` }
      yield* Effect.promise(() => writeFile(join(cwd, "package.json"), JSON.stringify({ private: true, scripts })))
      const at = new URL(admin)
      const env = {
        PATH: `${programs}:${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
        DATABASE_URL,
        RESTORED_URL: Redacted.value(restored),
        PGHOST: at.hostname,
        PGPORT: at.port,
        PGUSER: at.username,
        PGPASSWORD: decodeURIComponent(at.password)
      }
      const outputs = yield* Effect.forEach(printed(), (line) =>
        Effect.map(shell(line, cwd, line.includes("fsck") ? { ...env, ...KEYS } : env), ({ code, output }) => {
          assert.strictEqual(code, 0, `${line}\n${output}`)
          return output
        })
      )
      const [, , , migrated, audited, checked] = outputs
      assert.include(migrated, "The schema is up to date")
      assert.include(audited, "The ledger is consistent")
      assert.match(checked!, /The log is consistent: [1-9]/u)
      yield* load.stop
    }),
  400_000
)

/**
 * The samples of the guides: extracted from the pages that a service shows, and run in one shell against that service.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { guides, hasSamples } from "../../../adapters/site/docs/DocsNavigation.ts"
import { type Answer, json, result, text } from "../../../testing/mcp/ScriptedServer.ts"
import { providing } from "../../support/metering/Provider.ts"
import { serviceBundle } from "../../support/servers/ServiceBundle.ts"
import { ready, temporaryFolder } from "../../support/servers/ServiceProcess.ts"

/** Without it the test is counted as skipped. */
const hasCurl = spawnSync("curl", ["--version"]).status === 0

const SHELL_MS_MAX = 300_000

/** Guides whose variables the others use come first. */
const FIRST = ["quickstart", "sell-a-tool"]

interface Sample {
  readonly name: string
  readonly code: string
  /** Of an error that the sample shows: its first line is a comment such as `# 402 BUDGET_EXCEEDED`. */
  readonly error: string | undefined
}

const samplesOf = (page: string, markdown: string): ReadonlyArray<Sample> =>
  [...markdown.matchAll(/^```sh\n(.*?)^```$/gmsu)].map(([, code], index) => ({
    name: `${page} ${index + 1}`,
    code: code!,
    error: /^# (\d{3}) /u.exec(code!)?.[1]
  }))

/** Statuses and names of samples are written to stderr, in order. */
const scriptOf = (samples: ReadonlyArray<Sample>): string =>
  [
    "set -eu",
    `curl() { command curl -S --write-out '%{stderr}status %{http_code}\\n' "$@"; }`,
    ...samples.flatMap(({ code, name }) => [`echo 'sample ${name}' >&2`, `echo 'sample ${name}'`, code])
  ].join("\n")

const run = (script: string, cwd: string) =>
  Effect.callback<{ readonly output: string; readonly notes: string }>((resume) => {
    const env = { HOME: cwd, PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}` }
    const child = execFile("bash", ["-c", script], { cwd, env, timeout: SHELL_MS_MAX }, (_, output, notes) =>
      resume(Effect.succeed({ output, notes }))
    )
    return Effect.sync(() => child.kill("SIGKILL"))
  })

const found: Answer = (seen, response) => json(response, result(seen, text("found")))

it.live.skipIf(!hasCurl)(
  "the samples of every guide run as shown",
  () =>
    Effect.gen(function* () {
      const { url } = yield* ready({ PROFILE: "memory", DEMO_PROVIDER: "on", LOG_LEVEL: "Error" })
      const provider = yield* providing(found)
      const pages = guides.filter(hasSamples).map(({ slug }) => slug)
      const ordered = [...FIRST, ...pages.filter((slug) => !FIRST.includes(slug))]
      const samples = yield* Effect.forEach(ordered, (slug) =>
        Effect.promise(async () => {
          const markdown = await (await fetch(`${url}/docs/${slug}.md`)).text()
          return samplesOf(slug, markdown.replaceAll("https://tools.example.org/mcp", provider.url))
        })
      )
      const all = samples.flat()
      assert.isAbove(all.length, 25)

      const cwd = yield* temporaryFolder
      const { main } = yield* Effect.promise(serviceBundle)
      const scripts = { cli: `node ${main}` }
      writeFileSync(join(cwd, "package.json"), JSON.stringify({ private: true, scripts }))
      const { notes, output } = yield* run(scriptOf(all), cwd)
      const [, ...parts] = notes.split(/^sample /mu)
      assert.lengthOf(parts, all.length, `${notes}\n${output}`)
      for (const [index, part] of parts.entries()) {
        const { code, error, name } = all[index]!
        const statuses = [...part.matchAll(/status (\d{3})$/gmu)].map(([, status]) => status!)
        assert.lengthOf(statuses, code.match(/\bcurl -s/gu)?.length ?? 0, name)
        const expected = error === undefined ? /^2/u : new RegExp(`^${error}$`, "u")
        for (const status of statuses) assert.match(status, expected, `${name}\n${output}`)
      }
      for (const said of [
        '"text":"hello"',
        '"valid":true',
        '"code":"BUDGET_EXCEEDED"',
        '"code":"CAP_REQUIRED"',
        '"name":"search_tools"',
        '"applied":true',
        '"status":"filed"'
      ]) {
        assert.include(output, said)
      }
    }),
  600_000
)

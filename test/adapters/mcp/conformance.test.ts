/**
 * The official conformance suite's client scenarios that concern calling tools, run against the upstream client. The
 * others need what a billing proxy does not have: OAuth, elicitation, sampling, prompts and resources.
 */
import { execFile } from "node:child_process"
import { tmpdir } from "node:os"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

const root = new URL("../../../", import.meta.url).pathname
const suite = `${root}node_modules/@modelcontextprotocol/conformance/dist/index.js`
const client = `${process.execPath} ${root}test/support/mcp/conformanceClient.ts`

const scenario = (name: string, version: string) =>
  Effect.callback<{ readonly code: number; readonly output: string }>((resume) => {
    const args = [suite, "client", "--command", client, "--scenario", name, "--spec-version", version]
    const child = execFile(process.execPath, args, { cwd: tmpdir(), timeout: 60_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1
      resume(Effect.succeed({ code, output: `${stdout}\n${stderr}` }))
    })
    return Effect.sync(() => child.kill())
  })

describe("the conformance suite", () => {
  for (const [name, version] of [
    ["initialize", "2025-06-18"],
    ["initialize", "2025-11-25"],
    ["tools_call", "2025-06-18"],
    ["tools_call", "2025-11-25"],
    ["tools_call", "2026-07-28"],
    ["sse-retry", "2025-11-25"],
    ["request-metadata", "2026-07-28"],
    ["http-standard-headers", "2026-07-28"],
    ["http-custom-headers", "2026-07-28"],
    ["http-invalid-tool-headers", "2026-07-28"]
  ] as const) {
    it.live(
      `${name} at ${version}`,
      () =>
        Effect.gen(function* () {
          const { code, output } = yield* scenario(name, version)
          assert.strictEqual(code, 0, output)
          assert.match(output, /Passed: (\d+)\/\1, 0 failed, 0 warnings/u)
        }),
      180_000
    )
  }
})

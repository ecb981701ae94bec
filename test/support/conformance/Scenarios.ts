/**
 * Runs the server scenarios of `@modelcontextprotocol/conformance` against a URL, in a process of their own.
 */
import { execFile } from "node:child_process"
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import manifest from "../../../node_modules/@modelcontextprotocol/conformance/package.json" with { type: "json" }

const SUITE = join(import.meta.dirname, "../../../node_modules/@modelcontextprotocol/conformance/dist/index.js")
const SCENARIO_MS_MAX = 30_000
const SUITE_MS_MAX = 400_000

export const suiteVersion = manifest.version

export const REVISIONS = ["2025-11-25", "2026-07-28"] as const
export type Revision = (typeof REVISIONS)[number]

export interface Outcome {
  readonly passed: number
  readonly failed: number
}

export interface SuiteRun {
  readonly outcomes: ReadonlyMap<string, Outcome>
  /** The checks that failed, and why. */
  readonly failures: ReadonlyArray<string>
}

const SUMMARY = /^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed/gmu

/** Every scenario that the revision requires or adds, with its checks. */
export const runSuite = (url: string, revision: Revision): Effect.Effect<SuiteRun> =>
  Effect.acquireUseRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "agent-tool-billing-conformance-"))),
    (folder) =>
      Effect.callback<SuiteRun>((resume) => {
        const child = execFile(
          process.execPath,
          [SUITE, "server", "--url", url, "--requirements", revision, "-o", folder, "--timeout", `${SCENARIO_MS_MAX}`],
          { maxBuffer: 64 * 1024 * 1024, timeout: SUITE_MS_MAX },
          (_, stdout, stderr) => {
            const output = stdout + stderr
            const summary = output.slice(output.indexOf("=== SUMMARY ==="))
            const outcomes = new Map(
              [...summary.matchAll(SUMMARY)].map(([, scenario, passed, failed]) => [
                scenario!,
                { passed: Number(passed), failed: Number(failed) }
              ])
            )
            resume(Effect.map(failuresIn(folder), (failures) => ({ outcomes, failures })))
          }
        )
        return Effect.sync(() => child.kill())
      }),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

const failuresIn = (folder: string): Effect.Effect<ReadonlyArray<string>> =>
  Effect.promise(async () => {
    const failures: Array<string> = []
    for (const scenario of await readdir(folder)) {
      const text = await readFile(join(folder, scenario, "checks.json"), "utf8").catch(() => "[]")
      for (const { errorMessage, id, status } of JSON.parse(text) as ReadonlyArray<Check>) {
        if (status === "FAILURE") failures.push(`${scenario.replace(/-\d{4}-.*$/u, "")}: ${id}: ${errorMessage ?? ""}`)
      }
    }
    return failures
  })

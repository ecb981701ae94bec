/**
 * The samples of the API reference: every curl command and every TypeScript program runs as shown and succeeds, with the variables
 * set as the page says.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { openApiDocument } from "../../../adapters/http/openapi/OpenApiDocument.ts"
import { operationsOf } from "../../../adapters/http/openapi/OpenApiModel.ts"
import { typeScriptExample } from "../../../adapters/site/docs/EndpointPage.ts"
import { curlExample } from "../../../adapters/site/kit/Samples.ts"
import { SampleReader, type Values } from "../../support/project/SampleReader.ts"
import { SourcePackage } from "../../support/project/SourcePackage.ts"

const hasCurl = spawnSync("curl", ["--version"]).status === 0
const SHELL_MS_MAX = 60_000
const MINUTES = 400_000

/** The webhook: the client sends no signature. */
const WITHOUT_PROGRAM = 1

const run = (sample: string, env: Values) =>
  Effect.callback<{ readonly status: string; readonly body: string }>((resume) => {
    const script = `curl() { command curl -s --max-time 30 --write-out '\\n%{http_code}' "$@"; }\n${sample}`
    const given = { PATH: process.env["PATH"], ...env }
    const child = execFile("bash", ["-euc", script], { env: given, timeout: SHELL_MS_MAX }, (_, stdout) =>
      resume(Effect.succeed({ status: stdout.slice(-3), body: stdout.slice(0, 300) }))
    )
    return Effect.sync(() => child.kill("SIGKILL"))
  })

const everySample = Effect.gen(function* () {
  const { prepared, urlOf } = yield* SampleReader
  const samples = operationsOf(openApiDocument("")).map(({ operation: { operationId: name } }, index) => {
    const url = urlOf(name)
    const located = operationsOf(openApiDocument(url))[index]!
    return { name, command: curlExample(located, url), program: typeScriptExample(located, url) }
  })
  return { prepared, samples }
})

it.live.skipIf(!hasCurl)(
  "every curl command succeeds",
  () =>
    Effect.gen(function* () {
      const { prepared, samples } = yield* everySample
      const wrong: Array<string> = []
      for (const { command, name } of samples) {
        const { body, status } = yield* run(command, yield* prepared(name, command))
        if (!status.startsWith("2")) wrong.push(`${name}: ${status} ${body}`)
      }
      assert.deepStrictEqual(wrong, [])
    }).pipe(Effect.provide(SampleReader.layer)),
  MINUTES
)

it.live(
  "every TypeScript program compiles and succeeds",
  () =>
    Effect.gen(function* () {
      const { prepared, samples } = yield* everySample
      const app = yield* SourcePackage
      const programs = samples.filter(({ program }) => program !== undefined)
      assert.lengthOf(programs, samples.length - WITHOUT_PROGRAM)
      for (const { name, program } of programs) yield* app.write(`${name}.ts`, program!)
      assert.deepStrictEqual(yield* app.typeCheck, { code: 0, output: "" })
      const runProgram = yield* app.runner
      const wrong: Array<string> = []
      for (const { command, name } of programs) {
        const error = yield* runProgram(`${name}.ts`, yield* prepared(name, command))
        if (error !== "") wrong.push(`${name}: ${error}`)
      }
      assert.deepStrictEqual(wrong, [])
    }).pipe(Effect.provide([SampleReader.layer, SourcePackage.layer])),
  MINUTES
)

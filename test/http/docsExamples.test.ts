/**
 * The examples of the API reference: the curl commands are sent to a real service, and the TypeScript programs compile.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { openApiDocument } from "../../adapters/http/OpenApiDocument.ts"
import { operationsOf } from "../../adapters/http/openapi/OpenApiModel.ts"
import { typeScriptExample } from "../../adapters/site/docs/TypeScriptExample.ts"
import { curlExample } from "../../adapters/site/kit/CurlExample.ts"
import { OPERATOR_KEY } from "../support/EndpointTable.ts"
import { post, ready } from "../support/ServiceProcess.ts"
import { SourcePackage } from "../support/SourcePackage.ts"

const hasCurl = spawnSync("curl", ["--version"]).status === 0
const SHELL_MS_MAX = 300_000

/** What the examples are about does not exist on a new service; a well-formed request says so. */
const WELL_FORMED = ["200", "201", "202", "204", "404", "409", "410"]

/** What else a new service answers: no funds and earnings, no such provider, a small log, no processor, no reachable server. */
const OTHERS: Readonly<Record<string, string>> = {
  "imports.importTools": "502",
  "imports.importToolsV1": "502",
  "calls.proxy": "402",
  "metering.meter": "402",
  "metering.giveGrant": "422",
  "payouts.connect": "503",
  "payouts.requestPayout": "422",
  "payouts.stripeWebhook": "503",
  "operator.setReserve": "422",
  "log.consistency": "422",
  "trust.verify": "422",
  // Its example is not this service's key.
  "operatorSession.signIn": "401"
}

it.live.skipIf(!hasCurl)(
  "every curl command is a well-formed request of a real service",
  () =>
    Effect.gen(function* () {
      const { url } = yield* ready({
        PROFILE: "memory",
        LOG_LEVEL: "Error",
        OPERATOR_KEY,
        RATE_LIMIT_IP_RPM: "0",
        RATE_LIMIT_REGISTER_RPM: "0"
      })
      const keyOf = (path: string, body: object) =>
        Effect.map(post(`${url}/api/market/${path}`, body), ({ body: answer }) => String(answer["api_key"]))
      const consumer = yield* keyOf("register-consumer", { name: "A", email: "a@example.org" })
      const provider = yield* keyOf("register-provider", {
        name: "P",
        email: "p@example.org",
        endpoint_url: "http://127.0.0.1:9/mcp"
      })
      const operations = operationsOf(openApiDocument(url))
      const script = [
        `curl() { command curl -s -o /dev/null --max-time 30 --write-out '%{http_code}\\n' "$@"; }`,
        ...operations.map((located) => curlExample(located, url))
      ].join("\n")
      const output = yield* Effect.callback<string>((resume) => {
        const env = {
          PATH: process.env["PATH"],
          CONSUMER_KEY: consumer,
          PROVIDER_KEY: provider,
          OPERATOR_KEY,
          API_KEY: consumer
        }
        const child = execFile("sh", ["-c", script], { env, timeout: SHELL_MS_MAX }, (_, stdout) =>
          resume(Effect.succeed(stdout))
        )
        return Effect.sync(() => child.kill("SIGKILL"))
      })
      const statuses = output.trim().split("\n")
      assert.lengthOf(statuses, operations.length)
      const wrong = operations.flatMap(({ operation }, index) => {
        const status = statuses[index]!
        const isExpected = WELL_FORMED.includes(status) || OTHERS[operation.operationId] === status
        return isExpected ? [] : [`${operation.operationId}: ${status}`]
      })
      assert.deepStrictEqual(wrong, [])
    }),
  400_000
)

it.layer(SourcePackage.layer)("the TypeScript programs", (it) => {
  it.effect(
    "compile",
    () =>
      Effect.gen(function* () {
        const app = yield* SourcePackage
        const operations = operationsOf(openApiDocument("https://billing.example.org"))
        for (const located of operations) {
          const name = located.operation.operationId.replace(".", "-")
          yield* app.write(`${name}.ts`, typeScriptExample(located, "https://billing.example.org"))
        }
        assert.deepStrictEqual(yield* app.typeCheck, { code: 0, output: "" })
      }),
    400_000
  )
})

/**
 * A TypeScript client as a user builds it: types by openapi-typescript from the served document, requests by
 * openapi-fetch, strict, without a cast. It is compiled and run against the service.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fine, providing } from "../support/metering/Provider.ts"
import { RawHttp } from "../support/servers/RawHttp.ts"
import { temporaryFolder } from "../support/servers/ServiceProcess.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"

const ROOT = new URL("../..", import.meta.url).pathname
const MODULES = join(ROOT, "node_modules")
const RUN_MS_MAX = 240_000

const CONFIG = {
  compilerOptions: {
    target: "ES2023",
    module: "NodeNext",
    moduleResolution: "NodeNext",
    lib: ["ES2023", "DOM"],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    outDir: "out"
  },
  files: ["program.ts"]
}

const PROGRAM = `
import createClient from "openapi-fetch"
import type { paths } from "./schema.js"

declare const process: { readonly argv: ReadonlyArray<string> }

const [, , baseUrl = "", endpoint = ""] = process.argv
const client = createClient<paths>({ baseUrl })

/** What was answered, or what went wrong in the words of the service. */
const done = <A>({ data, error }: { data?: A; error?: { message?: string; code?: string } }): A => {
  if (data === undefined) throw new Error(error?.message ?? error?.code ?? "no answer")
  return data
}

const provider = done(
  await client.POST("/api/market/register-provider", {
    body: {
      name: "Typed tools",
      email: "typed@example.org",
      endpoint_url: endpoint,
      tools: [
        {
          tool_name: "typed-search",
          price_microcents: 500,
          free_tier_calls: 0,
          input_schema: { type: "object", properties: { q: { type: "string" } }, required: ["q"] }
        }
      ]
    }
  })
)
const consumer = done(
  await client.POST("/api/market/register-consumer", { body: { name: "Typed agent", email: "agent@example.org" } })
)
const headers = { authorization: \`Bearer \${consumer.api_key}\` }

const loaded = done(await client.POST("/api/market/balance/load", { headers, body: { amount_cents: 100 } }))
if (loaded.mode !== "dry_run") throw new Error("not a dry run")

const found = done(await client.GET("/api/market/catalog", { params: { query: { q: "typed-search", limit: 1 } } }))
const tool = found.tools[0]
if (tool === undefined) throw new Error("no tool")
const limit: number = tool.pricing.free_tier_limit + tool.pricing.free_tier_remaining
const average: number | null = tool.stats.avg_response_time_ms

const prices = done(await client.GET("/api/v1/market/pricing"))
const line = prices.pricing.find((one) => one.tool_id === tool.id)
if (line === undefined) throw new Error("no price")
const priced: readonly [number, string, number, number] = [
  line.price_cents,
  line.price,
  line.free_tier_limit,
  line.free_tier_remaining
]

const input = { q: "sea", filters: { years: [2025, 2026], open: true }, note: null }
const quoted = done(await client.POST("/api/market/proxy", { headers, body: { tool_id: tool.id, input, dry_run: true } }))
if (!("quote" in quoted)) throw new Error("no quote")

const called = done(
  await client.POST("/api/market/proxy", {
    headers: { ...headers, "Idempotency-Key": "typed" },
    body: { tool_id: tool.id, input, metadata: { trace: 7 }, price_version: quoted.quote.price_version }
  })
)
if (!("result" in called)) throw new Error("no result")
const outcome: "success" | "error" = called.meta.outcome
const content: unknown = called.result["content"]

const { receipts } = done(await client.GET("/api/v1/market/receipts", { headers, params: { query: { limit: 5 } } }))
const receipt = receipts[0]
if (receipt === undefined) throw new Error("no receipt")
const { receipt: one } = done(
  await client.GET("/api/v1/market/receipts/{id}", { params: { path: { id: receipt.receipt_id } } })
)

const bare = done(await client.POST("/api/v1/verify", { body: one }))
const wrapped = done(await client.POST("/api/v1/verify", { body: { receipt } }))
const forged = done(await client.POST("/api/v1/verify", { body: { ...receipt, cost_microcents: 1 } }))
const proof = done(
  await client.GET("/api/v1/market/receipts/{id}/proof", {
    parseAs: "text",
    params: { path: { id: receipt.receipt_id } }
  })
)

const owner = { authorization: \`Bearer \${provider.api_key}\` }
const summary = done(
  await client.POST("/api/market/billing/provider-summary", { headers: owner, body: { period: "7d" } })
)
const refused = await client.POST("/api/market/proxy", { body: { tool_id: tool.id, input } })

console.log(
  JSON.stringify({
    tool: tool.tool_name,
    limit,
    average,
    priced,
    cost: quoted.quote.cost_microcents,
    outcome,
    content,
    sameReceipt: receipt.receipt_id === called.meta.receipt_id,
    verdicts: [bare, wrapped, forged].map(({ verification }) => verification.reason),
    proof: String(proof).split("\\n")[0],
    calls: summary.total_calls,
    refused: refused.error?.code
  })
)
`

const run = (file: string, args: ReadonlyArray<string>, cwd: string) =>
  Effect.callback<{ readonly code: number; readonly output: string }>((resume) => {
    const child = execFile(
      process.execPath,
      [file, ...args],
      { cwd, timeout: RUN_MS_MAX, maxBuffer: 16_777_216 },
      (error, stdout, stderr) =>
        resume(Effect.succeed({ code: error === null ? 0 : 1, output: `${stdout}${stderr}`.trim() }))
    )
    return Effect.sync(() => child.kill())
  })

const layer = RawHttp.layer({ PAYMENTS: "dry_run", ALLOW_UPSTREAM: "loopback" })

it.layer(layer, LIVE)("A typed client", (it) => {
  it.effect(
    "registers, loads, calls, reads its receipts and verifies them, in strict mode and without casts",
    () =>
      Effect.gen(function* () {
        const { port } = yield* RawHttp
        const { url: endpoint } = yield* providing(fine)
        const folder = yield* temporaryFolder
        const baseUrl = `http://127.0.0.1:${port}`
        const document = yield* Effect.promise(async () => (await fetch(`${baseUrl}/api/openapi.json`)).text())
        yield* Effect.promise(async () => {
          await mkdir(folder, { recursive: true })
          await symlink(MODULES, join(folder, "node_modules"))
          await writeFile(join(folder, "openapi.json"), document)
          await writeFile(join(folder, "package.json"), '{"type":"module"}')
          await writeFile(join(folder, "tsconfig.json"), JSON.stringify(CONFIG))
          await writeFile(join(folder, "program.ts"), PROGRAM)
        })
        const generator = join(MODULES, "openapi-typescript/bin/cli.js")
        const generated = yield* run(generator, ["openapi.json", "-o", "schema.d.ts"], folder)
        assert.strictEqual(generated.code, 0, generated.output)
        const types = yield* Effect.promise(() => readFile(join(folder, "schema.d.ts"), "utf8"))
        const closed = types.split("\n").filter((line) => line.includes("Record<string, never>"))
        assert.deepStrictEqual(
          closed.filter((line) => !line.startsWith("export type") && !line.trim().startsWith("NoContent:")),
          [],
          "an object that names no fields takes any, but for the body that is empty"
        )

        const compiled = yield* run(join(MODULES, "typescript/bin/tsc"), ["-p", "."], folder)
        assert.deepStrictEqual(compiled, { code: 0, output: "" })

        const ran = yield* run(join(folder, "out/program.js"), [baseUrl, endpoint], folder)
        assert.strictEqual(ran.code, 0, ran.output)
        assert.deepStrictEqual(JSON.parse(ran.output), {
          tool: "typed-search",
          limit: 0,
          average: null,
          priced: [0, "$0.0005", 0, 0],
          cost: 500,
          outcome: "success",
          content: [{ type: "text", text: "fine" }],
          sameReceipt: true,
          verdicts: ["ok", "ok", "signature_mismatch"],
          proof: "c2sp.org/tlog-proof@v1",
          calls: 1,
          refused: "UNAUTHORIZED"
        })
      }),
    RUN_MS_MAX
  )
})

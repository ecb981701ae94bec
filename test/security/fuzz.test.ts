/**
 * Every operation of the OpenAPI document over real sockets of a service process, on a real PostgreSQL: as described,
 * corrupted, and as garbage. No response is a server error or violates the contract, none is missing, memory stays
 * within bounds, and the ledger balances. For more: FUZZ_REQUESTS=100000; for other requests: FUZZ_SEED=7.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { readFile } from "node:fs/promises"
import { CONSUMERS, consumerBody, PROVIDERS, providerBody } from "../support/market/Market.ts"
import { fine, providing, resulting } from "../support/metering/Provider.ts"
import { LOAD } from "../support/metering/Shop.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { json as ask, post, ready } from "../support/servers/ServiceProcess.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { campaign } from "../support/fuzz/Campaign.ts"
import { Crowd } from "../support/fuzz/Accounts.ts"
import { mailServer } from "../support/trust/MailServer.ts"
import { nameServer } from "../support/trust/NameServer.ts"

const REQUESTS = Number(process.env["FUZZ_REQUESTS"] ?? 3_000)
const SEED = Number(process.env["FUZZ_SEED"] ?? 1)
/** The duration does not matter: a run ends after its requests. */
const TIMEOUT_MS = process.env["FUZZ_REQUESTS"] === undefined ? 600_000 : 3_600_000
/** The process ends if the heap outgrows this: its caches are bounded, its rows are in PostgreSQL. */
const HEAP_MB_MAX = 256
const RESIDENT_MB_MAX = 600
const OPERATOR_KEY = "the operator's key of the fuzzing, 32 characters"

const ECHO = { tool_name: "echo", price_microcents: 500, free_tier_calls: 0 }

const settingsFor = (url: string, dns: string, smtp: string) => ({
  DATABASE_URL: url,
  PAYMENTS: "dry_run",
  RECEIPT_SIGNING_SECRET: "the secret of the fuzzing, 32 characters and more",
  LOG_SIGNING_KEY: "5eed".repeat(16),
  OPERATOR_KEY,
  ALLOW_UPSTREAM: "127.0.0.0/8,::1/128",
  UPSTREAM_TIMEOUT_MS: "500",
  DNS_SERVERS: dns,
  SMTP_URL: smtp,
  RATE_LIMIT_RPM: "0",
  RATE_LIMIT_IP_RPM: "0",
  RATE_LIMIT_REGISTER_RPM: "0",
  LOG_LEVEL: "Error",
  LOG_FORMAT: "json",
  NODE_OPTIONS: `--max-old-space-size=${HEAP_MB_MAX}`
})

/** Dry run mode makes no payouts; a closed month, an own dispute or a log of that size depend on chance. */
const HARD_TO_COME_BY = new Set([
  // The operator's key is in its body, and a dispute must exist.
  "POST /api/v1/operator/session",
  "GET /api/v1/operator/disputes/{id}",
  "POST /api/market/connect",
  "POST /api/market/payouts",
  "POST /api/webhooks/stripe",
  "GET /api/v1/market/invoices/{id}",
  "POST /api/v1/market/invoices/{id}/credit-notes",
  "POST /api/v1/market/disputes/{id}/respond",
  "POST /api/v1/market/disputes/{id}/resolve",
  "GET /api/v1/market/log/consistency"
])

/** Of more than a hundred operations, those that need not have succeeded. */
const MISSED_MAX = 8
/** Runs continue until enough operations have succeeded; mostly one is enough. */
const RUNS_MAX = 12

/** The outcome of the run, printed in any case. */
const say = (text: string): void => void process.stdout.write(`${text}\n`)

const residentMb = async (pid: number): Promise<number> =>
  Number(/VmRSS:\s+(\d+)/u.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024

it.layer(PostgresTest.layerDatabase, LIVE)("the service, fuzzed from its own contract", (it) => {
  it.effect(
    "answers every request, without a server error, within its memory",
    () =>
      Effect.gen(function* () {
        const { url } = yield* PostgresTest
        const [good, bad] = [yield* providing(fine), yield* resulting({ content: [], isError: true })]
        const dns = yield* nameServer(new Map())
        const mail = yield* mailServer
        const service = yield* ready(settingsFor(Redacted.value(url), dns, mail.url))
        const urls = [good.url, bad.url, good.url.replace("127.0.0.1", "LOCALHOST"), "http://127.0.0.1:1/mcp"]

        /** With tools to sell, or funds to call them. */
        const register = async (role: "consumer" | "provider") => {
          const body = role === "consumer" ? consumerBody() : providerBody({ endpoint_url: good.url, tools: [ECHO] })
          const path = role === "consumer" ? CONSUMERS : PROVIDERS
          const { body: made } = await Effect.runPromise(post(`${service.url}${path}`, body))
          const key = String(made["api_key"])
          if (role === "consumer") {
            await Effect.runPromise(post(`${service.url}${LOAD}`, { amount_cents: 100_000 }, key))
          }
          return key
        }
        const memory: Array<number> = []
        const crowd = new Crowd(OPERATOR_KEY)
        const succeeded = new Set<string>()
        const run = Effect.fnUntraced(function* (seed: number) {
          const result = yield* Effect.promise(() =>
            campaign({
              port: service.port,
              seed,
              requests: REQUESTS,
              urls,
              crowd,
              register,
              onProgress: async () => void memory.push(await residentMb(service.pid))
            })
          )
          const told = `FUZZ_SEED=${seed}, ${result.done} requests, ${service.problem()}`
          say(
            `${told} statuses ${JSON.stringify(Object.fromEntries(result.statuses))}, ${result.refused} hung up on, slowest ` +
              `${Math.round(result.slowestMs)} ms, resident MB ${memory.map(Math.round).join(" ")}`
          )
          assert.deepStrictEqual(result.faults, [], `${told}\n${result.faults.join("\n\n")}`)
          assert.isAbove(result.done, 1_000, told)
          assert.isBelow(Math.max(...memory), RESIDENT_MB_MAX, told)
          // Requests that are all rejected would find nothing.
          for (const [title, times] of result.asked) if (times.succeeded > 0) succeeded.add(title)
          const missed = [...result.asked.keys()].filter(
            (title) => !succeeded.has(title) && !HARD_TO_COME_BY.has(title)
          )
          return { told, missed }
        })
        let { missed, told } = yield* run(SEED)
        for (let n = 1; n < RUNS_MAX && missed.length > MISSED_MAX; n++) ({ missed, told } = yield* run(SEED + n))
        assert.isAtMost(missed.length, MISSED_MAX, `${told} ${missed.join(", ")}`)

        assert.isNull(service.child.exitCode, told)
        assert.strictEqual((yield* ask(`${service.url}/readyz`)).status, 200)
        const { body } = yield* ask(`${service.url}/api/v1/market/ledger/trial-balance`)
        assert.strictEqual(body["balanced"], true, told)
      }),
    { timeout: TIMEOUT_MS }
  )
})

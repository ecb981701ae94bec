/**
 * The commands of users for their accounts: keys, funds and receipts.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { StripeDouble } from "../../testing/stripe/StripeDouble.ts"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { finished, ready, start, temporaryFolder } from "../support/servers/ServiceProcess.ts"
import { receiptIn, register, Shop, signedIn } from "../support/user/UserShell.ts"

const SLOW = 300_000

it.layer(Shop.layer, { timeout: SLOW, excludeTestServices: true })("the commands of users", (it) => {
  it.effect(
    "create, list and revoke keys, and revoke their own only when told to",
    () =>
      Effect.gen(function* () {
        const { key, run, url } = yield* signedIn
        const created = yield* run(["keys", "create", "--label", "laptop", "--expires-in-days", "30"])
        const other = created.output.trim()
        assert.match(other, /^atb_c_[0-9a-f]+$/u)
        const id = /Key (\S+)\./u.exec(created.problem)![1]!
        assert.include((yield* run(["keys", "list"])).output, "laptop")
        const { output } = yield* run(["whoami", "--json"])
        const own = (JSON.parse(output) as { account: { key_id: string } }).account.key_id
        const kept = yield* run(["keys", "revoke", own])
        assert.strictEqual(kept.code, 2)
        assert.include(kept.problem, "--yes")
        assert.strictEqual((yield* run(["keys", "revoke", own, "--yes"])).code, 0)
        assert.strictEqual((yield* run(["funds", "balance"])).code, 3)
        const last = yield* run(["keys", "revoke", id, "--yes"], {
          AGENT_TOOL_BILLING_URL: url,
          AGENT_TOOL_BILLING_KEY: other
        })
        assert.strictEqual(last.code, 2, last.problem)
        assert.notInclude(kept.problem, key)
      }),
    SLOW
  )

  it.effect(
    "list and show receipts, and verify them step by step with the key noted at the login",
    () =>
      Effect.gen(function* () {
        const { file, home, run, url } = yield* signedIn
        const id = receiptIn((yield* run(["call", "demo/echo", '{"message": "hello"}'])).problem)
        assert.include((yield* run(["receipts", "list", "--status", "success"])).output, id)
        const found = yield* run(["receipts", "show", id, "--json"])
        const { receipt } = JSON.parse(found.output) as { receipt: Readonly<Record<string, unknown>> }

        const valid = yield* run(["receipts", "verify", id])
        assert.strictEqual(valid.code, 0, valid.problem)
        assert.deepStrictEqual(
          [...valid.output.matchAll(/^ok +(\w+)/gmu)].map(([, step]) => step),
          ["key", "receipt", "proof", "signature", "inclusion"]
        )
        assert.include(valid.output, "noted when you signed in")

        const changed = yield* run(["receipts", "verify", "-"], {}, JSON.stringify({ ...receipt, cost_microcents: 1 }))
        assert.strictEqual(changed.code, 8)
        assert.match(changed.output, /^FAILED +inclusion/mu)
        assert.include(changed.problem, "NOT VALID (not_in_tree)")
        writeFileSync(join(home, "receipt.json"), found.output)
        const anyone = { AGENT_TOOL_BILLING_URL: url, XDG_CONFIG_HOME: join(home, "nobody") }
        const published = yield* run(["receipts", "verify", "receipt.json", "--json"], anyone)
        assert.deepInclude(JSON.parse(published.output), { valid: true, key_source: "published" })

        const { log_keys: noted, ...rest } = JSON.parse(readFileSync(file, "utf8")) as { log_keys: [string] }
        const other = noted[0].replace(/\+[0-9a-f]{8}\+.*$/u, "+7954829d+ARi3K2EfrEfAWYoB0l6MUq1e/tcBtcss/SftUBFIUmJ5")
        writeFileSync(file, JSON.stringify({ ...rest, log_keys: [other] }))
        const replaced = yield* run(["receipts", "verify", id, "--json"])
        assert.strictEqual(replaced.code, 8)
        assert.deepInclude(JSON.parse(replaced.output), { valid: false, key_source: "noted" })
        assert.deepInclude(JSON.parse(replaced.problem), { kind: "not_valid" })

        assert.strictEqual((yield* run(["receipts", "show", `rcpt_${"0".repeat(32)}`])).code, 4)
        assert.strictEqual((yield* run(["receipts", "verify", "nothing.json"])).code, 2)
      }),
    SLOW
  )
})

it.live(
  "`funds load --wait` prints where to pay, and ends with the credited balance",
  () =>
    Effect.gen(function* () {
      const secrets = { secretKey: "sk_test_double", webhookSecret: "whsec_double" }
      const double = yield* Effect.acquireRelease(
        Effect.promise(() => StripeDouble.start(secrets)),
        (started) => Effect.promise(() => started.stop())
      )
      double.webhooks.followReturns = true
      const { url } = yield* ready({
        PROFILE: "memory",
        PAYMENTS: "stripe",
        STRIPE_API_BASE: double.url,
        STRIPE_SECRET_KEY: secrets.secretKey,
        STRIPE_WEBHOOK_SECRET: secrets.webhookSecret
      })
      const settings = { XDG_CONFIG_HOME: yield* temporaryFolder }
      yield* finished(register(url), { settings })
      const unpaid = yield* finished(["funds", "load", "5", "--wait", "--timeout", "1"], { settings })
      assert.strictEqual(unpaid.code, 7)
      assert.include(unpaid.problem, "was not credited within 1 seconds")

      const waiting = yield* start(["funds", "load", "12.50", "--wait"], { settings })
      yield* until(
        "it says where to pay",
        Effect.sync(() => waiting.problem().includes("Waiting for the payment"))
      )
      const link = /at (http\S+)/u.exec(waiting.problem())![1]!
      yield* Effect.promise(() =>
        fetch(link, { method: "POST", body: new URLSearchParams({ do: "pay" }), redirect: "manual" })
      )
      assert.strictEqual(yield* waiting.exit, 0, waiting.problem())
      assert.match(waiting.output(), /^Available +\$12\.50$/mu)
    }),
  SLOW
)

/**
 * The commands for independent verification, as they are typed: `verify` with files only, `witness`, `fsck`.
 */
import { assert, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import { finished, json, post, ready, temporaryFolder } from "../support/servers/ServiceProcess.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"

const SETTINGS = {
  RECEIPT_SIGNING_SECRET: "a secret of the tests, 32 characters or more",
  LOG_SIGNING_KEY: "0".repeat(64),
  PAYMENTS: "dry_run",
  ALLOW_UPSTREAM: "loopback",
  LOG_LEVEL: "Error"
}

const text = (url: string) => Effect.promise(async () => (await fetch(url)).text())
const write = (file: string, content: string) => Effect.promise(() => writeFile(file, content))

/** A service that sold one call; its receipt, proof and key. */
const sold = Effect.gen(function* () {
  const { url: database } = yield* PostgresTest
  const settings = { ...SETTINGS, DATABASE_URL: Redacted.value(database) }
  const { child, exit, url } = yield* ready(settings)
  const provider = yield* providing(fine)
  yield* post(`${url}/api/market/register-provider`, {
    name: "Seller",
    email: "seller@example.org",
    endpoint_url: provider.url,
    tools: [{ tool_name: "echo", price_microcents: 500, free_tier_calls: 0 }]
  })
  const { body } = yield* post(`${url}/api/market/register-consumer`, { name: "Buyer", email: "buyer@example.org" })
  const key = String(body["api_key"])
  yield* post(`${url}/api/market/balance/load`, { amount_cents: 100 }, key)
  const proofOf = (id: string) =>
    text(`${url}/api/v1/market/receipts/${id}/proof`).pipe(
      Effect.filterOrFail((proof) => proof.startsWith("c2sp.org/tlog-proof@")),
      Effect.eventually
    )
  /** A call whose receipt is in the log. */
  const buy = Effect.gen(function* () {
    const { body } = yield* post(`${url}/api/market/proxy`, { tool_name: "echo", input: {} }, key)
    const id = String((body["meta"] as Record<string, unknown>)["receipt_id"])
    return { id, proof: yield* proofOf(id) }
  })
  const { id, proof } = yield* buy
  const receipt = yield* text(`${url}/api/v1/market/receipts/${id}`)
  const keys = (yield* json(`${url}/.well-known/jwks.json`)).body["keys"] as ReadonlyArray<Record<string, string>>
  return {
    url,
    settings,
    id,
    receipt: JSON.stringify(JSON.parse(receipt).receipt, null, 2),
    proof,
    vkey: keys[0]!["vkey"]!,
    buy,
    stop: Effect.andThen(
      Effect.sync(() => child.kill()),
      exit
    )
  }
})

it.layer(PostgresTest.layer, { timeout: "300 seconds", excludeTestServices: true })("The log's commands", (it) => {
  it.effect(
    "verify a receipt offline, follow the log, and check it again",
    () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const at = (name: string) => join(folder, name)
        const { buy, id, proof, receipt, settings, stop, url, vkey } = yield* sold
        yield* write(at("receipt.json"), receipt)
        yield* write(at("receipt.tlog-proof"), proof)
        yield* write(at("log.vkey"), `${vkey}\n`)
        const verify = (...args: ReadonlyArray<string>) => finished(["verify", ...args], { cwd: folder })

        const valid = yield* verify("receipt.json", "receipt.tlog-proof", "--vkey", vkey)
        assert.strictEqual(valid.code, 0, valid.problem)
        assert.match(valid.output, /^Valid: receipt 1 of 1 in /u)
        assert.strictEqual((yield* verify("receipt.json", "receipt.tlog-proof", "--vkey", "log.vkey")).code, 0)

        yield* write(at("dearer.json"), receipt.replace('"cost_microcents": 500', '"cost_microcents": 400'))
        const dearer = yield* verify("dearer.json", "receipt.tlog-proof", "--vkey", vkey)
        assert.strictEqual(dearer.code, 1)
        assert.include(dearer.problem, "NOT VALID (not_in_tree)")
        for (const [args, says] of [
          [[], "receipt"],
          [["receipt.json", "--vkey", vkey], "proof"],
          [["receipt.json", "receipt.tlog-proof"], "--vkey"],
          [["--vkey", vkey], "receipt"],
          [["receipt.json", "receipt.tlog-proof", "another", "--vkey", vkey], '"another"'],
          [["--what"], "--what"]
        ] as const) {
          const wrong = yield* verify(...args)
          assert.strictEqual(wrong.code, 1)
          assert.include(wrong.problem, says, args.join(" "))
          assert.include(wrong.problem, "verify --help` shows what it takes")
        }
        assert.include((yield* verify("none.json", "receipt.tlog-proof", "--vkey", vkey)).problem, "none.json")

        // A witness follows the log, and its cosignature counts for the receipt.
        yield* buy
        const log = `${url}/api/v1/market/log/1`
        const witness = [
          "witness",
          "--log",
          log,
          "--vkey",
          vkey,
          "--name",
          "witness.example",
          "--state",
          at("state"),
          "--once"
        ]
        const first = yield* finished(witness, { cwd: folder })
        assert.strictEqual(first.code, 0, first.problem)
        const witnessKey = /^Witness (\S+)$/mu.exec(first.output)![1]!
        const cosigned = yield* Effect.promise(() => readFile(at("state/checkpoint"), "utf8"))
        const size = cosigned.split("\n")[1]!
        yield* write(at("then.tlog-proof"), yield* text(`${url}/api/v1/market/receipts/${id}/proof?tree_size=${size}`))
        const seen = [
          "receipt.json",
          "then.tlog-proof",
          "--vkey",
          vkey,
          "--checkpoint",
          "state/checkpoint",
          "--witness"
        ]
        const withWitness = yield* verify(...seen, witnessKey)
        assert.strictEqual(withWitness.code, 0, withWitness.problem)
        assert.include(withWitness.output, "seen by witness.example")
        const unwitnessed = yield* verify("receipt.json", "then.tlog-proof", "--vkey", vkey, "--witness", witnessKey)
        assert.include(unwitnessed.problem, "NOT VALID (witness_missing)")
        yield* buy
        const second = yield* finished(witness, { cwd: folder })
        assert.strictEqual(second.code, 0, second.problem)
        assert.include(second.output, "Signed a consistent log of")

        const sound = yield* finished(["fsck"], { settings })
        assert.strictEqual(sound.code, 0, sound.problem)
        assert.match(sound.output, /The log is consistent: 3 receipts in 1 logs, 0 waiting/u)
        assert.match(sound.output, /The ledger is consistent: \d+ transfers/u)

        // The operator changes a receipt, then the log with it: fsck finds the first, the witness the second.
        const sql = yield* PgClient.PgClient
        yield* sql`UPDATE receipts SET duration_ms = duration_ms + 1 WHERE receipt_id = ${id.slice(5)}::uuid`
        const changed = yield* finished(["fsck"], { settings })
        assert.strictEqual(changed.code, 1)
        assert.include(changed.problem, `${id} does not match leaf 0 of log 1`)
        // A running node remembers the tree that it signed, and would stop the new log.
        yield* stop
        yield* sql`TRUNCATE receipt_logs, receipt_log_tiles, receipt_log_places`
        yield* sql`INSERT INTO receipts_unlogged SELECT receipt_id, ARRAY[receipt_id], true, consumer_id FROM receipts`
        const rewritten = yield* sameLogAgain(settings)
        const third = yield* finished(
          ["witness", "--log", `${rewritten.url}/api/v1/market/log/1`, ...witness.slice(3)],
          { cwd: folder }
        )
        assert.strictEqual(third.code, 1)
        assert.include(third.problem, "The log is inconsistent")
      }),
    { timeout: 300_000 }
  )
})

/** A node that starts the log anew, at the same address. */
const sameLogAgain = Effect.fnUntraced(function* (settings: Readonly<Record<string, string>>) {
  const started = yield* ready({ ...settings })
  yield* until(
    "the log has its receipts",
    Effect.map(
      json(`${started.url}/api/v1/market/log`),
      ({ body }) => ((body["logs"] as ReadonlyArray<Record<string, number>> | undefined)?.[0]?.["tree_size"] ?? 0) >= 3
    )
  )
  return started
})

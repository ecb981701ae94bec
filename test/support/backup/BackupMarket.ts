/**
 * A market for backup tests: every kind of data of an account, in a closed month and in the current one, and calls
 * that continue. And what must hold for it after a restore.
 */
import { assert } from "@effect/vitest"
import { Effect, Layer, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import * as NodeEntropy from "../../../adapters/crypto/NodeEntropy.ts"
import * as StripeGateway from "../../../adapters/payments/StripeGateway.ts"
import * as PostgresLedgerStore from "../../../adapters/sql/ledger/PostgresLedgerStore.ts"
import * as PostgresUnitOfWork from "../../../adapters/sql/shared/PostgresUnitOfWork.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import { ConsumerId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { kill, until } from "../servers/EmbeddedFolders.ts"
import { type Acknowledged, callLoad, type Load } from "../load/CallLoad.ts"
import { echoProvider } from "../load/EchoProvider.ts"
import { booksAfter } from "../load/LoadAudit.ts"
import { loadMarket, type LoadMarket, OPEN_TO_LOAD, posted, walletOf } from "../load/LoadMarket.ts"
import { behind, bought, got } from "../market/HttpMarket.ts"
import { finished, json, post, ready, temporaryFolder } from "../servers/ServiceProcess.ts"
import { StripeDouble } from "../../../testing/stripe/StripeDouble.ts"
import { connectedTo } from "../servers/TestDatabases.ts"

const STRIPE = { secretKey: "sk_test_double", webhookSecret: "whsec_double" }
export const PRICE = 100_000
const LOADED = Microcents.make(1_000_000_000n)
/** A cent more than a whole number of calls: it shows in a balance. */
export const OPEN_LOAD = 43_210_000
const CONNECTIONS = 16
/** Enough for a payout, which is at least $10. */
const CALLS_LAST_MONTH = 200
const CHECKED_ONE_BY_ONE = 10

export const LOG_KEY = "0".repeat(64)
export const NEXT_LOG_KEY = "1".repeat(64)

const settingsOn = (database: Redacted.Redacted, logKey = LOG_KEY): Readonly<Record<string, string>> => ({
  ...OPEN_TO_LOAD,
  PROFILE: "production",
  DATABASE_URL: Redacted.value(database),
  RECEIPT_SIGNING_SECRET: "a secret of the tests, 32 characters or more",
  LOG_SIGNING_KEY: logKey,
  PAYMENTS: "dry_run",
  BASE_URL: "https://market.example",
  LOG_LEVEL: "Error"
})

const withStripe = (double: StripeDouble) => ({
  PAYMENTS: "stripe",
  STRIPE_SECRET_KEY: STRIPE.secretKey,
  STRIPE_WEBHOOK_SECRET: STRIPE.webhookSecret,
  STRIPE_API_BASE: double.url
})

const stripeDouble = Effect.acquireRelease(
  Effect.promise(async () => {
    const double = await StripeDouble.start(STRIPE)
    double.webhooks.holding = true
    return double
  }),
  (double) => Effect.promise(() => double.stop())
)

export interface BackupMarket extends LoadMarket {
  readonly url: string
  readonly double: StripeDouble
  /** A checkout at Stripe that is not paid yet, and its consumer. */
  readonly open: { readonly session: string; readonly buyer: string }
  /** Calls until stopped. */
  readonly load: Effect.Effect<Load, never, Scope.Scope>
  readonly kill: Effect.Effect<void>
}

export const moreCalls = ({ heard }: Load) =>
  Effect.suspend(() => {
    const enough = heard.acknowledged.length + 2 * CONNECTIONS
    return until(
      "calls are answered",
      Effect.sync(() => heard.acknowledged.length >= enough)
    )
  })

const books = (double: StripeDouble) =>
  Ledger.layer.pipe(
    Layer.provide([
      PostgresLedgerStore.layer,
      PostgresUnitOfWork.layer,
      NodeEntropy.layer,
      StripeGateway.layer({
        secretKey: Redacted.make(STRIPE.secretKey),
        webhookSecret: Redacted.make(STRIPE.webhookSecret),
        apiBase: double.url
      })
    ])
  )

/** As if all of them had paid at the processor. */
const loadAll = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* Ledger
  const consumers = yield* sql<{ readonly id: string }>`SELECT id FROM consumers`
  for (const { id } of consumers) {
    yield* ledger.load({ consumerId: ConsumerId.make(id), amount: LOADED, reference: `load:${id}` })
  }
})

/** The service uses the database's clock: only the database can make it last month. */
const clockBehind = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql
    AS $$ SELECT pg_catalog.clock_timestamp() - interval '40 days' $$`
  yield* sql`DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database());
  END $$`
})

const clockRight = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET search_path', current_database()); END $$`
  yield* sql`DROP FUNCTION public.clock_timestamp()`
})

export const backupMarket = Effect.fnUntraced(function* (database: Redacted.Redacted) {
  const double = yield* stripeDouble
  const settings = { ...settingsOn(database), ...withStripe(double) }
  const provider = yield* echoProvider
  yield* clockBehind.pipe(connectedTo(database))
  const early = yield* behind(40, settings)
  const market = yield* loadMarket(early.url, provider, { cents: 0, tool: { price_microcents: PRICE } })
  yield* loadAll.pipe(Effect.provide(books(double)), connectedTo(database))
  const lastMonth = yield* callLoad({ ...market, url: early.url, connections: CONNECTIONS })
  yield* until(
    "last month's calls",
    Effect.sync(() => lastMonth.heard.acknowledged.length >= CALLS_LAST_MONTH)
  )
  yield* lastMonth.stop
  yield* kill(early.child, "SIGTERM")
  yield* clockRight.pipe(connectedTo(database))
  const month = new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 7)
  const closed = yield* finished(["invoices", month], { settings })
  assert.match(closed.output, /: created 9 documents/u, closed.problem)

  const { child, url } = yield* ready(settings)
  yield* posted(`${url}/api/market/connect`, {}, market.providerKey)
  for (const account of double.state.accounts.values()) account.complete = true
  yield* got(`${url}/api/market/connect`, market.providerKey)
  yield* posted(`${url}/api/market/payouts`, {}, market.providerKey)
  yield* until(
    "the payout is made",
    Effect.sync(() => double.state.transfers.size === 1)
  )
  const buyer = market.buyers[0]!
  const order = yield* posted(`${url}/api/market/balance/load`, { amount_cents: OPEN_LOAD / 10_000 }, buyer)
  const kept: BackupMarket = {
    ...market,
    url,
    double,
    open: { session: String(order["session_id"]), buyer },
    load: callLoad({ ...market, url, connections: CONNECTIONS }),
    kill: kill(child, "SIGKILL")
  }
  return kept
})

/** The commands of an operator who has restored a database. They report errors by their exit code. */
export const isSound = Effect.fnUntraced(function* (database: Redacted.Redacted, logKey = LOG_KEY) {
  const settings = settingsOn(database, logKey)
  const [migrate, audit, fsck] = yield* Effect.forEach(["migrate", "audit", "fsck"], (name) =>
    finished([name], { settings })
  )
  assert.match(migrate!.output, /^The schema is up to date/u, migrate!.problem)
  assert.strictEqual(audit!.code, 0, audit!.problem)
  assert.strictEqual(fsck!.code, 0, fsck!.problem)
  const nobody = { acknowledged: [], provider: { invocations: new Map() } }
  const books = yield* booksAfter(nobody).pipe(connectedTo(database))
  assert.deepStrictEqual(books.findings, [])
  return books
})

/** Every receipt that callers got before the backup exists and is valid; the service continues to sell. */
export const continues = Effect.fnUntraced(function* (
  database: Redacted.Redacted,
  market: BackupMarket,
  before: ReadonlyArray<Acknowledged>,
  { logKey, logNumber }: { readonly logKey: string; readonly logNumber: number }
) {
  const { child, url } = yield* ready({ ...settingsOn(database, logKey), ...withStripe(market.double) })
  for (const { cost, receiptId } of [...before.slice(0, CHECKED_ONE_BY_ONE), ...before.slice(-CHECKED_ONE_BY_ONE)]) {
    const { body } = yield* json(`${url}/api/v1/market/receipts/${receiptId}`)
    const receipt = body["receipt"] as Readonly<Record<string, unknown>>
    assert.strictEqual(Number(receipt["cost_microcents"]), Number(cost), receiptId)
    const verdict = yield* post(`${url}/api/v1/verify`, { receipt })
    assert.include(verdict.body["verification"], { valid: true }, JSON.stringify(verdict))
    // A receipt of the last second may not have been sequenced yet: it is now.
    assert.include(yield* proofOf(url, receiptId), "market.example/api/v1/market/log/")
  }
  assert.include(yield* proofOf(url, before[0]!.receiptId), "market.example/api/v1/market/log/1\n")
  const buyer = market.buyers.at(-1)!
  const { balance } = yield* walletOf(url, buyer)
  const [receiptId] = yield* bought(url, buyer, "echo", 1)
  assert.strictEqual((yield* walletOf(url, buyer)).balance, balance - PRICE)
  assert.include(yield* proofOf(url, receiptId!), `market.example/api/v1/market/log/${logNumber}`)
  const documents = yield* got(`${url}/api/v1/market/invoices`, buyer)
  assert.lengthOf(documents["invoices"] as ReadonlyArray<unknown>, 1)
  const payouts = yield* got(`${url}/api/market/payouts`, market.providerKey)
  assert.deepStrictEqual(
    (payouts["history"] as ReadonlyArray<{ readonly status: string }>).map(({ status }) => status),
    ["paid"]
  )
  return { url, kill: kill(child, "SIGTERM") }
})

const proofOf = (url: string, receiptId: string) =>
  Effect.promise(async () => {
    const response = await fetch(`${url}/api/v1/market/receipts/${receiptId}/proof`)
    const text = await response.text()
    assert.strictEqual(response.status, 200, text)
    return text
  })

/** An independent witness that remembers the log. */
export const aWitness = Effect.map(temporaryFolder, (cwd) => ({
  look: Effect.fnUntraced(function* (url: string, number: number) {
    const { body } = yield* json(`${url}/.well-known/jwks.json`)
    const keys = body["keys"] as ReadonlyArray<{ readonly vkey?: string }>
    const vkey = keys.map((one) => one.vkey ?? "").find((one) => one.includes(`/log/${number}+`))
    assert.isDefined(vkey, JSON.stringify(keys))
    const options = ["--vkey", vkey, "--name", "witness.example", "--state", `state-${number}`, "--once"]
    return yield* finished(["witness", "--log", `${url}/api/v1/market/log/${number}`, ...options], { cwd })
  }),
  evidence: Effect.promise(() => readFile(join(cwd, "state-1/evidence"), "utf8"))
}))

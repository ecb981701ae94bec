/**
 * Erasing an account: personal data is removed, the ledger stays unchanged.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { AccountStore } from "../../domain/accounts/Account.ts"
import { KeyStore } from "../../domain/accounts/Keys.ts"
import { CatalogStore } from "../../domain/catalog/CatalogStore.ts"
import { BudgetStore } from "../../domain/ledger/Budgets.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { LogCheck } from "../../domain/log/LogCheck.ts"
import { LogStore } from "../../domain/log/LogStore.ts"
import { Grants } from "../../domain/metering/Grants.ts"
import { SubmissionStore, WaitlistStore } from "../../domain/platform/Submissions.ts"
import { ConsumerId, ProviderId } from "../../domain/shared/Ids.ts"
import { VerificationStore } from "../../domain/trust/Challenge.ts"
import { aConsumer, at, expecting } from "../support/market/Market.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { BALANCE, buy, load, RECEIPTS } from "../support/metering/Shop.ts"
import { aPair, CALLS, CENTS, filed, MARK, ordered, type Pair } from "../support/security/Erasable.ts"
import { DISPUTES, KEYS } from "../support/security/Paths.ts"
import { everyDisputedCore, resolve } from "../support/trust/Disputing.ts"

const books = Effect.gen(function* () {
  const ledger = yield* Ledger
  const logs = yield* (yield* LogStore).logs
  const { accounts, balanced } = yield* ledger.trialBalance
  const { discrepancies, transfers } = yield* ledger.audit
  return { accounts, balanced, discrepancies, transfers, checkpoints: logs.map(({ checkpoint }) => checkpoint) }
})

const receiptsOf = (pair: Pair, key: string) =>
  Effect.forEach(pair.receipts, (id) =>
    Effect.map(expecting(200, { path: `${RECEIPTS}/${id}`, key }), (answer) => at(answer, "receipt"))
  )

/** Every row of the database that still contains the mark, except documents as they were issued. */
const traces = Effect.gen(function* () {
  const sql = Option.getOrUndefined(yield* Effect.serviceOption(SqlClient.SqlClient))
  if (sql === undefined) return undefined
  const tables = yield* Effect.orDie(sql<{ readonly name: string }>`
    SELECT tablename::text AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'invoices'`)
  const found = yield* Effect.forEach(tables, ({ name }) =>
    Effect.map(
      Effect.orDie(
        sql<{ readonly text: string }>`SELECT t::text AS text FROM ${sql(name)} t WHERE t::text ILIKE ${`%${MARK}%`}`
      ),
      (rows) => rows.map(({ text }) => `${name}: ${text.slice(0, 200)}`)
    )
  )
  return found.flat()
})

for (const [name, core] of everyDisputedCore) {
  it.layer(core, LIVE)(`Erasure over ${name}`, (it) => {
    it.effect("removes all data of two people, and leaves ledger, receipts and log unchanged", () =>
      Effect.gen(function* () {
        const pair = yield* aPair
        const { consumer, mail, offer, provider } = pair
        const watcher = yield* aConsumer()
        const dispute = yield* filed(pair)
        yield* resolve(dispute, { resolution: "resolved_denied" })
        const proof = {
          providerId: ProviderId.make(provider.id),
          level: "code" as const,
          subject: `git.example/${MARK}`
        }
        yield* Effect.flatMap(VerificationStore, (store) =>
          store.put({
            ...proof,
            tokenHash: undefined,
            tokenSealed: undefined,
            expiresAt: undefined,
            verifiedAt: DateTime.makeUnsafe("2026-11-01T00:00:00.000Z"),
            checkedAt: undefined,
            missed: 0,
            missingSince: undefined
          })
        )
        const before = { books: yield* books, receipts: yield* receiptsOf(pair, provider.key) }
        const marked = yield* traces
        assert.strictEqual(marked !== undefined, name === "PostgreSQL")
        if (marked !== undefined) assert.isAbove(marked.length, 8, "the mark is where it can be found")

        const { record, repeated } = yield* ordered(consumer)
        assert.isFalse(repeated)
        assert.deepStrictEqual([record.role, record.by], ["consumer", "ticket 1"])
        assert.strictEqual(record.leftMicrocents, BigInt(CENTS * 10_000 - CALLS * 12_345))
        yield* expecting(401, { path: BALANCE, key: consumer.key })
        assert.deepStrictEqual(yield* receiptsOf(pair, provider.key), before.receipts)
        const seen = yield* expecting(200, { path: `${DISPUTES}/${dispute}`, key: provider.key })
        assert.notInclude(seen.text, MARK)
        yield* ordered(provider)
        yield* expecting(401, { path: KEYS, key: provider.key })

        assert.deepStrictEqual(yield* books, before.books)
        const { findings } = yield* Effect.flatMap(LogCheck, ({ check }) => check).pipe(Effect.provide(LogCheck.layer))
        assert.deepStrictEqual(findings, [])
        for (const id of pair.receipts) {
          const receipt = yield* expecting(200, { path: `${RECEIPTS}/${id}` })
          const verdict = yield* expecting(200, { path: "/api/v1/verify", json: { receipt: at(receipt, "receipt") } })
          assert.strictEqual(at(verdict, "verification", "valid"), true)
        }

        const listed = yield* Effect.flatMap(CatalogStore, (store) =>
          store.findOf(ProviderId.make(provider.id), offer.toolName)
        )
        const { price, priceVersion, tool } = Option.getOrThrow(listed)
        assert.deepStrictEqual(
          [tool.displayName, tool.description, tool.inputSchema, tool.category, price, priceVersion],
          ["echo", "", undefined, "games", 12_345n, 1]
        )
        assert.isDefined(tool.withdrawnAt)
        const offered = yield* expecting(200, { path: `/api/market/catalog?provider_id=${provider.id}` })
        assert.deepStrictEqual(at(offered, "tools"), [])
        const looking = yield* expecting(200, { path: `/api/market/catalog?q=${MARK}` })
        assert.deepStrictEqual(at(looking, "tools"), [])
        yield* load(watcher, CENTS)
        const failed = yield* buy(watcher, offer)
        assert.strictEqual(failed.status, 410, failed.text)
        const wallet = yield* expecting(200, { path: BALANCE, key: watcher.key })
        assert.strictEqual(at(wallet, "balance_microcents"), CENTS * 10_000)

        const now = yield* DateTime.now
        const consumerId = ConsumerId.make(consumer.id)
        const account = Option.getOrThrow(yield* (yield* AccountStore).findConsumer(consumerId))
        assert.deepStrictEqual(
          [account.name, account.email, account.useCase],
          ["Erased account", `erased+${consumer.id}@erased.invalid`, ""]
        )
        assert.deepStrictEqual(yield* (yield* BudgetStore).list(consumerId, now), [])
        for (const grant of yield* (yield* Grants).list(consumerId)) assert.isDefined(grant.revokedAt)
        for (const key of yield* (yield* KeyStore).ofOwner(consumerId, now)) {
          assert.deepStrictEqual([key.label, key.revokedAt === undefined], ["", false])
        }
        assert.isTrue(Option.isNone(yield* (yield* WaitlistStore).find(mail)))
        for (const kind of ["feedback", "application"] as const) {
          const sent = yield* (yield* SubmissionStore).recent(kind, 10)
          assert.notInclude(JSON.stringify(sent), MARK)
          assert.isAbove(sent.length, 0)
        }
        assert.deepStrictEqual((yield* traces) ?? [], [])
      })
    )

    it.effect("is idempotent: a repetition erases new data, and keeps the first time", () =>
      Effect.gen(function* () {
        const { consumer, mail } = yield* aPair
        const { record } = yield* ordered(consumer)
        const accounts = yield* AccountStore
        const erased = Option.getOrThrow(yield* accounts.findConsumer(ConsumerId.make(consumer.id)))
        yield* accounts.updateConsumer({ ...erased, name: MARK, email: mail })
        const again = yield* ordered(consumer, false, "ticket 2")
        assert.deepStrictEqual(again, { record, repeated: true })
        assert.deepStrictEqual(yield* accounts.findConsumer(erased.id), Option.some(erased))
        assert.deepStrictEqual(yield* accounts.erasureOf(erased.id), Option.some(record))
      })
    )
  })
}

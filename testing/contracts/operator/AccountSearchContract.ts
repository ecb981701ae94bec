/**
 * What an AccountSearch must do.
 */
import { Effect } from "effect"
import assert from "node:assert/strict"
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import { AccountSearch } from "../../../domain/operator/AccountSearch.ts"
import { aConsumer, aProvider } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { aConsumerId, aProviderId, uuid } from "../shared/LedgerSamples.ts"
import { everyItem, FORGED } from "../shared/ListPages.ts"

export const accountSearchContract: Contract<AccountSearch | AccountStore> = [
  rule(
    "lists all accounts newest first, page by page",
    Effect.gen(function* () {
      const search = yield* AccountSearch
      const consumers = [yield* aConsumer(), yield* aConsumer(), yield* aConsumer()]
      const providers = [yield* aProvider(), yield* aProvider(), yield* aProvider()]
      const listed = yield* everyItem((page) => search.consumers(undefined, page))
      assert.deepEqual(listed.slice(0, 3), consumers.toReversed())
      const sellers = yield* everyItem((page) => search.providers(undefined, page))
      assert.deepEqual(sellers.slice(0, 3), providers.toReversed())
      for (const page of FORGED) {
        assert.ok((yield* search.consumers(undefined, page)).items.length <= 2)
        assert.ok((yield* search.providers(undefined, page)).items.length <= 2)
      }
    })
  ),

  rule(
    "finds accounts by id, or by the beginning of name, email or handle without regard to case",
    Effect.gen(function* () {
      const search = yield* AccountSearch
      const mark = (yield* uuid).slice(-12)
      const consumer = yield* aConsumer({ name: `Zed_${mark} & Co`, email: `zed.${mark}@example.com` })
      const provider = yield* aProvider({
        name: `Yak%${mark}`,
        email: `yak.${mark}@example.com`,
        handle: `yak-${mark}`
      })
      yield* aConsumer({ name: `ZedX${mark} & Co` })
      for (const text of [consumer.id, `zed_${mark}`, `ZED_${mark} &`, `Zed.${mark}@example`]) {
        const { items, total } = yield* search.consumers(text, { limit: 5, offset: 0, after: undefined })
        assert.deepEqual([items, total], [[consumer], 1], text)
      }
      for (const text of [provider.id, `yak%${mark}`, `YAK%${mark}`, `yak.${mark}`, `Yak-${mark}`]) {
        const { items } = yield* search.providers(text, { limit: 5, offset: 0, after: undefined })
        assert.deepEqual(items, [provider], text)
      }
      for (const text of [`${mark}`, `%${mark}`, "\\", `zed_${mark}\\`, `zed_${mark}\0`, "\ud800", yield* uuid]) {
        const { items } = yield* search.consumers(text, { limit: 5, offset: 0, after: undefined })
        assert.deepEqual(items, [], text)
      }
    })
  ),

  rule(
    "returns the consumers of ids",
    Effect.gen(function* () {
      const search = yield* AccountSearch
      const consumer = yield* aConsumer()
      assert.deepEqual(yield* search.consumersOf([consumer.id, yield* aConsumerId]), [consumer])
      assert.deepEqual(yield* search.consumersOf([]), [])
    })
  ),

  rule(
    "returns the providers of ids",
    Effect.gen(function* () {
      const search = yield* AccountSearch
      const provider = yield* aProvider()
      assert.deepEqual(yield* search.providersOf([provider.id, yield* aProviderId]), [provider])
      assert.deepEqual(yield* search.providersOf([]), [])
    })
  )
]

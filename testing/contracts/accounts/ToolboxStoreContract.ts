/**
 * What a ToolboxStore must do, with the accounts of its owners.
 */
import { Effect } from "effect"
import assert from "node:assert/strict"
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import { ToolboxStore } from "../../../domain/accounts/ToolboxStore.ts"
import { KeyId } from "../../../domain/shared/Ids.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aConsumer, instant } from "../shared/AccountSamples.ts"
import { aToolId } from "../shared/CallSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { uuid } from "../shared/LedgerSamples.ts"

const AT = instant("2026-11-20T12:00:00.000Z")

export const toolboxStoreContract: Contract<AccountStore | ToolboxStore | UnitOfWork> = [
  rule(
    "keeps the toolboxes of an account and of its keys apart, in order",
    Effect.gen(function* () {
      const store = yield* ToolboxStore
      const { id: consumerId } = yield* aConsumer()
      const ofAccount = { consumerId, keyId: undefined }
      const ofKey = { consumerId, keyId: KeyId.make(yield* uuid) }
      const [a, b, c] = [yield* aToolId, yield* aToolId, yield* aToolId]
      assert.deepEqual(yield* store.tools(ofAccount), [])
      yield* store.put(ofAccount, [b, a], AT)
      yield* store.put(ofKey, [c], AT)
      assert.deepEqual(yield* store.tools(ofAccount), [b, a])
      assert.deepEqual(yield* store.tools(ofKey), [c])
      yield* store.put(ofAccount, [a, b, c], AT)
      assert.deepEqual(yield* store.tools(ofAccount), [a, b, c])
      yield* store.put(ofAccount, [], AT)
      assert.deepEqual(yield* store.tools(ofAccount), [])
      assert.deepEqual(yield* store.tools(ofKey), [c])
    })
  ),

  rule(
    "shows and changes the toolbox of a key only for its account",
    Effect.gen(function* () {
      const store = yield* ToolboxStore
      const [owner, other] = [yield* aConsumer(), yield* aConsumer()]
      const keyId = KeyId.make(yield* uuid)
      const tool = yield* aToolId
      yield* store.put({ consumerId: owner.id, keyId }, [tool], AT)
      assert.deepEqual(yield* store.tools({ consumerId: other.id, keyId }), [])
    })
  ),

  rule(
    "removes all toolboxes of one account",
    Effect.gen(function* () {
      const store = yield* ToolboxStore
      const [erased, other] = [yield* aConsumer(), yield* aConsumer()]
      const tool = yield* aToolId
      const keyId = KeyId.make(yield* uuid)
      for (const scope of [
        { consumerId: erased.id, keyId: undefined },
        { consumerId: erased.id, keyId },
        { consumerId: other.id, keyId: undefined }
      ]) {
        yield* store.put(scope, [tool], AT)
      }
      yield* store.removeAll(erased.id)
      assert.deepEqual(yield* store.tools({ consumerId: erased.id, keyId: undefined }), [])
      assert.deepEqual(yield* store.tools({ consumerId: erased.id, keyId }), [])
      assert.deepEqual(yield* store.tools({ consumerId: other.id, keyId: undefined }), [tool])
    })
  ),

  rule(
    "keeps a toolbox as it was where the unit of work fails",
    Effect.gen(function* () {
      const store = yield* ToolboxStore
      const { atomically } = yield* UnitOfWork
      const { id: consumerId } = yield* aConsumer()
      const scope = { consumerId, keyId: undefined }
      const [before, after] = [yield* aToolId, yield* aToolId]
      yield* store.put(scope, [before], AT)
      yield* Effect.exit(atomically(Effect.andThen(store.put(scope, [after], AT), Effect.fail("no"))))
      assert.deepEqual(yield* store.tools(scope), [before])
    })
  )
]

/**
 * Receipts signed by a remote key that fails, hangs, and comes back: a call is charged once and delivered with its receipt,
 * or neither.
 */
import { assert, it } from "@effect/vitest"
import { Context, DateTime, Deferred, Effect, Exit, Fiber, Layer, Logger, Option } from "effect"
import { TestClock } from "effect/testing"
import { problemOf } from "../../adapters/http/pipeline/Problems.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { CallStore } from "../../domain/metering/CallStore.ts"
import { MeterKeyStore, type MeterRequest } from "../../domain/metering/DirectMetering.ts"
import { Grants } from "../../domain/metering/Grants.ts"
import { Metering } from "../../domain/metering/Metering.ts"
import { Sweeper } from "../../domain/metering/Sweeper.ts"
import {
  type Receipt,
  Receipts,
  ReceiptSigner,
  REMOTE_VERIFICATIONS_MAX,
  SIGNER_MS_MAX,
  SignerUnavailable
} from "../../domain/receipts/Receipts.ts"
import { ConsumerId, ProviderId, type ReceiptId, ToolId } from "../../domain/shared/Ids.ts"
import { zero } from "../../domain/shared/Microcents.ts"
import { ToolUpstream } from "../../domain/upstream/ToolUpstream.ts"
import { money } from "../contracts/ledgerSamples.ts"
import { receiptsSignedBy } from "../support/checks/ReceiptVerdict.ts"
import { expecting } from "../support/market/Market.ts"
import { type KeyService, type Mishap, remoteSigner } from "../support/market/RemoteSigner.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { CORE_SECRET, memoryCore } from "../support/metering/Core.ts"
import { aFundedConsumer, anOffer, books, GRANTS, PRICE } from "../support/metering/Shop.ts"
import { hurried, later } from "../support/metering/TestTime.ts"

const LOADED = 1_000_000n
const COST = 5_000
const KEY = { keyHash: "ab".repeat(32), requestHash: "cd".repeat(32) }
const rendered = () => ({ status: 200, headers: {}, body: "delivered" })

/** The services of one node whose key is remote, and a tool that always succeeds. */
const aNode = Effect.gen(function* () {
  const keys: KeyService = { mishap: () => undefined, asked: 0 }
  let calls = 0
  const signing = Layer.fresh(Receipts.layer).pipe(
    Layer.provide(Layer.succeed(ReceiptSigner, remoteSigner(CORE_SECRET, keys)))
  )
  const upstream = Layer.succeed(ToolUpstream, {
    call: ({ onForwarded }) =>
      Effect.sync(() => {
        calls++
        onForwarded?.(1)
        return {
          status: "success" as const,
          result: { content: [] },
          problem: undefined,
          attempts: 1,
          latencyMs: 1,
          requestBytes: 0,
          responseBytes: 0
        }
      })
  })
  const services = yield* Layer.build(
    Layer.mergeAll(Layer.fresh(Metering.layer), Layer.fresh(Sweeper.layer)).pipe(
      Layer.provide(Layer.merge(signing, upstream))
    )
  )
  // Only while the key is away: no store must wait in a hurry.
  const hurriedOnceAsked = hurried(() => keys.asked > 0 && keys.mishap() !== undefined)
  return {
    metering: Context.get(services, Metering),
    sweep: Context.get(services, Sweeper).sweep,
    keys,
    hurriedOnceAsked,
    forwarded: () => calls
  }
})

const aCall = Effect.gen(function* () {
  const buyer = yield* aFundedConsumer()
  const { toolId } = yield* anOffer("http://127.0.0.1:9/mcp")
  const named: Array<ReceiptId> = []
  const request = {
    consumerId: ConsumerId.make(buyer.id),
    tool: { toolId: ToolId.make(toolId), toolName: undefined, providerId: undefined },
    arguments: {},
    maxCost: undefined,
    idempotency: KEY,
    onReceiptId: (id: ReceiptId) => named.push(id)
  }
  return { request, named }
})

const availableOf = (consumerId: ConsumerId) =>
  Effect.flatMap(Ledger, (ledger) => Effect.map(ledger.wallet(consumerId), ({ available }) => available))

/** What a core with the same secret in its process says. */
const isGenuine = (id: ReceiptId) =>
  Effect.gen(function* () {
    const receipts = yield* Receipts
    const receipt = Option.getOrThrow(yield* receipts.find(id))
    return { receipt, valid: (yield* receipts.verify(receipt)).valid }
  })

const AWAY: ReadonlyArray<Mishap> = ["fails", "hangs", "cannot be interrupted"]

it.layer(memoryCore.pipe(Layer.provideMerge(Logger.layer([]))), LIVE)("A remote key", (it) => {
  it.effect("that comes back during the settlement charges the call once and delivers it", () =>
    Effect.gen(function* () {
      const { forwarded, hurriedOnceAsked, keys, metering } = yield* aNode
      const { named, request } = yield* aCall
      keys.mishap = () => (["fails", "hangs", "fails"] as const)[keys.asked - 1]
      const outcome = yield* hurriedOnceAsked(metering.call(request, rendered))
      assert.deepInclude(outcome, { _tag: "Settled", answer: rendered() })
      assert.strictEqual(keys.asked, 4)
      assert.strictEqual(forwarded(), 1)
      const { receipt, valid } = yield* isGenuine(named[0]!)
      assert.isTrue(valid)
      assert.deepInclude(receipt, { status: "success", cost_microcents: money(PRICE) })
      assert.strictEqual(yield* availableOf(request.consumerId), LOADED - BigInt(PRICE))
      yield* books
    })
  )

  for (const mishap of AWAY) {
    it.effect(`that ${mishap} leaves the call held, and the sweeper ends it at no cost once the key is back`, () =>
      Effect.gen(function* () {
        const { forwarded, hurriedOnceAsked, keys, metering, sweep } = yield* aNode
        const calls = yield* CallStore
        const { named, request } = yield* aCall
        const { consumerId } = request
        const id = () => named[0]!
        keys.mishap = () => mishap
        const failure = yield* hurriedOnceAsked(Effect.flip(metering.call(request, rendered)))
        assert.strictEqual(failure._tag, "SignerUnavailable")
        assert.strictEqual(forwarded(), 1)
        // Nothing is charged or released before it is known what to do.
        assert.strictEqual((yield* calls.outcome(consumerId, id()))._tag, "Open")
        assert.strictEqual(yield* availableOf(consumerId), LOADED - BigInt(PRICE))
        assert.strictEqual((yield* calls.earlier(consumerId, KEY))?._tag, "InFlight")
        assert.strictEqual((yield* Effect.flip(later("10 minutes")(sweep)))._tag, "SignerUnavailable")
        assert.strictEqual((yield* calls.outcome(consumerId, id()))._tag, "Open")

        keys.mishap = () => undefined
        yield* later("10 minutes")(sweep)
        const { receipt, valid } = yield* isGenuine(id())
        assert.isTrue(valid)
        assert.deepInclude(receipt, { status: "error", cost_microcents: zero })
        assert.strictEqual(yield* availableOf(consumerId), LOADED)
        yield* later("10 minutes")(sweep)
        assert.strictEqual(yield* availableOf(consumerId), LOADED)

        // The key of the request is free again: it is a new call, charged once.
        assert.strictEqual((yield* metering.call(request, rendered))._tag, "Settled")
        assert.strictEqual((yield* metering.call(request, rendered))._tag, "Replayed")
        assert.strictEqual(forwarded(), 2)
        assert.strictEqual(yield* availableOf(consumerId), LOADED - BigInt(PRICE))
        yield* books
      })
    )
  }

  it.effect("that returns nonsense puts no receipt into the store", () =>
    Effect.gen(function* () {
      const { keys, metering } = yield* aNode
      const { named, request } = yield* aCall
      keys.mishap = () => "garbles"
      // In no hurry: the key does answer, and a busy machine may take longer than a hundredth of the signer's time.
      const exit = yield* Effect.exit(metering.call(request, rendered))
      assert.isTrue(Exit.isFailure(exit) && String(exit.cause).includes("64 lowercase hex digits"))
      assert.isTrue(Option.isNone(yield* (yield* Receipts).find(named[0]!)))
      assert.strictEqual((yield* (yield* CallStore).outcome(request.consumerId, named[0]!))._tag, "Open")
    })
  )

  it.effect("that fails during a report leaves grant and key of the report bound, and nothing is billed", () =>
    Effect.gen(function* () {
      const { keys, metering, sweep } = yield* aNode
      const [buyer, other] = [yield* aFundedConsumer(), yield* aFundedConsumer()]
      const offer = yield* anOffer("http://127.0.0.1:9/mcp")
      const providerId = ProviderId.make(offer.provider.id)
      const consumerId = ConsumerId.make(buyer.id)
      const grant = { provider_id: providerId, cap_microcents: 100_000 }
      yield* expecting(201, { path: GRANTS, key: buyer.key, json: grant })
      const request = {
        caller: { role: "provider", ownerId: providerId } as MeterRequest["caller"],
        tool: { toolId: ToolId.make(offer.toolId), toolName: undefined, providerId },
        consumerId,
        status: "success" as const,
        durationMs: 1,
        tokensInput: 0,
        tokensOutput: 0,
        cost: money(COST),
        calledAt: undefined,
        idempotency: KEY
      }
      const spent = Effect.map((yield* Grants).list(consumerId), ([first]) => Number(first!.spent))
      keys.mishap = () => "fails"
      assert.strictEqual((yield* Effect.flip(metering.record(request, rendered)))._tag, "SignerUnavailable")
      assert.strictEqual(yield* spent, COST)
      const rebound = { providerId, keyHash: KEY.keyHash, consumerId: ConsumerId.make(other.id) }
      assert.isFalse(yield* (yield* MeterKeyStore).bind(rebound, yield* DateTime.now))

      keys.mishap = () => undefined
      yield* later("10 minutes")(sweep)
      assert.strictEqual(yield* spent, 0)
      assert.strictEqual(yield* availableOf(consumerId), LOADED)
      assert.strictEqual((yield* metering.record(request, rendered))._tag, "Recorded")
      assert.strictEqual(yield* spent, COST)
      assert.strictEqual(yield* availableOf(consumerId), LOADED - BigInt(COST))
      yield* books
    })
  )
})

const SIGNED = {
  receipt_id: "rcpt_00000000000000000000000000000001",
  tool_id: "t1",
  tool_name: "a tool",
  agent_id: "a1",
  provider_id: "p1",
  timestamp: "2026-01-01T00:00:00.000Z",
  duration_ms: 1,
  cost_microcents: 5n,
  status: "success",
  created_at: "2026-01-01T00:00:00.000Z"
} as unknown as Omit<Receipt, "signature">
const SIGNATURE = "5".repeat(64)

const receiptsOf = (signer: ReceiptSigner["Service"]) =>
  Effect.provide(Receipts, receiptsSignedBy(Layer.succeed(ReceiptSigner, signer)))

/** The time limit passes. */
const inTheEnd = <A, E>(asked: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const waiting = yield* Effect.forkChild(asked, { startImmediately: true })
    yield* TestClock.adjust(SIGNER_MS_MAX)
    return yield* Fiber.join(waiting)
  })

it.effect("A key that cannot be interrupted is unavailable in time, also where the caller cannot be", () =>
  Effect.gen(function* () {
    const keys: KeyService = { mishap: () => "cannot be interrupted", asked: 0 }
    const { sign, verify } = yield* receiptsOf(remoteSigner(CORE_SECRET, keys))
    const verifying = verify({ ...SIGNED, signature: SIGNATURE })
    const all: ReadonlyArray<Effect.Effect<unknown, SignerUnavailable>> = [
      sign(SIGNED),
      verifying,
      Effect.uninterruptible(sign(SIGNED))
    ]
    for (const asked of all) {
      assert.strictEqual((yield* inTheEnd(Effect.flip(asked)))._tag, "SignerUnavailable")
    }
    assert.strictEqual(keys.asked, 3)
    // A caller that leaves does not wait for it either.
    const leaving = yield* Effect.forkChild(sign(SIGNED), { startImmediately: true })
    yield* Fiber.interrupt(leaving)
  })
)

it.effect("A few verifications at once may use a remote key, and signing does not wait for them", () =>
  Effect.gen(function* () {
    let [running, most] = [0, 0]
    const first = yield* Deferred.make<boolean>()
    const { sign, verify } = yield* receiptsOf({
      sign: () => Effect.succeed(SIGNATURE),
      verify: () =>
        Effect.suspend(() => {
          most = Math.max(most, ++running)
          return Deferred.await(first)
        }).pipe(Effect.ensuring(Effect.sync(() => running--)))
    })
    const verifying = verify({ ...SIGNED, signature: SIGNATURE })
    const many = yield* Effect.forkChild(
      Effect.forEach(Array.from({ length: 5 * REMOTE_VERIFICATIONS_MAX }), () => verifying, {
        concurrency: "unbounded"
      }),
      { startImmediately: true }
    )
    assert.strictEqual((yield* sign(SIGNED)).signature, SIGNATURE)
    assert.strictEqual(running, REMOTE_VERIFICATIONS_MAX)
    yield* Deferred.succeed(first, true)
    assert.isTrue((yield* Fiber.join(many)).every(({ valid }) => valid))
    assert.strictEqual(most, REMOTE_VERIFICATIONS_MAX)
  })
)

it.effect("Verifications that wait too long for a key fail, and make room for the next ones", () =>
  Effect.gen(function* () {
    const keys: KeyService = { mishap: () => "cannot be interrupted", asked: 0 }
    const { verify } = yield* receiptsOf(remoteSigner(CORE_SECRET, keys))
    const verifying = verify({ ...SIGNED, signature: SIGNATURE })
    const asked = Effect.forEach(Array.from({ length: 2 * REMOTE_VERIFICATIONS_MAX }), () => Effect.flip(verifying), {
      concurrency: "unbounded"
    })
    assert.isTrue((yield* inTheEnd(asked)).every(({ _tag }) => _tag === "SignerUnavailable"))
    keys.mishap = () => undefined
    assert.isFalse((yield* verifying).valid)
  })
)

it.effect("A Promise is neither a signature nor a verification", () =>
  Effect.gen(function* () {
    const promise = Promise.resolve(SIGNATURE) as unknown as string
    const verify = () => Effect.succeed(Promise.resolve(true) as unknown as boolean)
    for (const signature of [promise, "5".repeat(63)]) {
      for (const sign of [() => Effect.succeed(signature), () => Effect.sync(() => signature)]) {
        const local = yield* receiptsOf({ sign, verify })
        const exit = yield* Effect.exit(local.sign(SIGNED))
        assert.isTrue(Exit.isFailure(exit) && String(exit.cause).includes("64 lowercase hex digits"))
        assert.isFalse((yield* local.verify({ ...SIGNED, signature: SIGNATURE })).valid)
      }
    }
    const remote = yield* receiptsOf({
      sign: () => Effect.succeed(SIGNATURE),
      verify: () => Effect.sync(() => Promise.resolve(false) as unknown as boolean)
    })
    assert.isFalse((yield* remote.verify({ ...SIGNED, signature: SIGNATURE })).valid)
  })
)

it("A key that is away is a 503 with a time to retry after", () => {
  const problem = problemOf(new SignerUnavailable({ cause: new Error("away") }), "https://market.example")
  assert.deepInclude(problem, { status: 503, code: "UNAVAILABLE", headers: { "retry-after": "5" } })
  assert.notInclude(problem.message, "away")
})

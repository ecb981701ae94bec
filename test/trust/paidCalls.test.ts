/**
 * Which calls count for a trust score, their weight, and what an attacker pays to change it.
 */
import { assert, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import type { Receipt } from "../../domain/receipts/Receipts.ts"
import { ConsumerId, ProviderId, ReceiptId, ToolId } from "../../domain/shared/Ids.ts"
import { Microcents, zero } from "../../domain/shared/Microcents.ts"
import {
  type ConsumerRulings,
  type CountedCalls,
  countedCallsOf,
  PAID_CONSUMER_MICROCENTS_MIN,
  type PaidCalls,
  paidDaysOf
} from "../../domain/trust/PaidCalls.ts"
import { trustOf } from "../../domain/trust/TrustScore.ts"

const DOLLAR = PAID_CONSUMER_MICROCENTS_MIN
const NOTHING: CountedCalls = { consumers: 0, calls: 0, successRate: undefined, p95Ms: undefined }

/** A hundred calls for a dollar, all of them within 200 ms. */
const aPair = (changes: Partial<PaidCalls> = {}): PaidCalls => {
  const paidCalls = changes.paidCalls ?? 100
  return {
    consumerId: ConsumerId.make(randomUUID()),
    paidMicrocents: DOLLAR,
    paidCalls,
    failedCalls: 0,
    inputRejected: 0,
    upTo: [paidCalls, paidCalls, paidCalls, paidCalls, paidCalls],
    longestMs: 100,
    ...changes
  }
}

const refundOf = ({ consumerId }: PaidCalls, refundedCalls: number, refundedMicrocents: bigint): ConsumerRulings => ({
  consumerId,
  upheld: refundedCalls,
  denied: 0,
  refundedCalls,
  refundedMicrocents
})

const rateOf = (...pairs: ReadonlyArray<PaidCalls>): number => countedCallsOf(pairs, []).successRate!

describe("a consumer", () => {
  it("counts once it paid a dollar, and not a microcent before", () => {
    assert.deepStrictEqual(countedCallsOf([aPair({ paidMicrocents: DOLLAR - 1n })], []), NOTHING)
    assert.deepStrictEqual(countedCallsOf([aPair()], []), { consumers: 1, calls: 100, successRate: 1, p95Ms: 200 })
  })

  it("does not count what was refunded", () => {
    const pair = aPair({ paidMicrocents: DOLLAR + 10n })
    assert.deepStrictEqual(countedCallsOf([pair], [refundOf(pair, 1, 11n)]), NOTHING)
    assert.strictEqual(countedCallsOf([pair], [refundOf(pair, 1, 10n)]).calls, 99)
    assert.strictEqual(countedCallsOf([pair], [refundOf(aPair(), 100, DOLLAR)]).calls, 100)
  })

  it("counts without paid calls where everything that it paid for failed", () => {
    const pair = aPair({ paidCalls: 0, failedCalls: 100 })
    assert.deepStrictEqual(countedCallsOf([pair], []), { ...NOTHING, consumers: 1 })
  })
})

describe("the success rate", () => {
  it("is the share of successful calls where all cost the same", () => {
    assert.closeTo(rateOf(aPair({ paidCalls: 90, failedCalls: 10 })), 0.9, 1e-12)
    const cents = (paidCalls: number, failedCalls: number) =>
      aPair({ paidMicrocents: BigInt(paidCalls) * 50_000n, paidCalls, failedCalls })
    assert.closeTo(rateOf(cents(38, 2), cents(40, 0), cents(36, 4)), 114 / 120, 1e-12)
  })

  it("weighs calls by their cost: cheap ones do not hide failures", () => {
    const honest = aPair({ paidMicrocents: 50n * DOLLAR, paidCalls: 900, failedCalls: 100 })
    const sybil = aPair({ paidMicrocents: DOLLAR, paidCalls: 100_000 })
    assert.isBelow(rateOf(honest, sybil), 0.91)
    // 99% takes about nine times as much money as the honest consumers paid.
    assert.isBelow(rateOf(honest, aPair({ paidMicrocents: 400n * DOLLAR })), 0.99)
    assert.isAtLeast(rateOf(honest, aPair({ paidMicrocents: 510n * DOLLAR })), 0.99)
  })

  it("counts the failures of a consumer up to the number of its paid calls", () => {
    const honest = aPair({ paidMicrocents: 100n * DOLLAR, paidCalls: 1_000 })
    const rival = aPair({ paidCalls: 10, failedCalls: 1_000_000 })
    assert.closeTo(rateOf(honest, rival), 101 / 102, 1e-12)
    assert.strictEqual(countedCallsOf([rival], []).calls, 20)
  })

  it("forgives rejected input up to 5% of a consumer's calls, and counts the rest as failures", () => {
    assert.strictEqual(rateOf(aPair({ paidCalls: 95, inputRejected: 5 })), 1)
    assert.closeTo(rateOf(aPair({ paidCalls: 80, inputRejected: 20 })), 80 / 95, 1e-12)
    assert.closeTo(rateOf(aPair({ paidCalls: 80, failedCalls: 10, inputRejected: 10 })), 80 / 95, 1e-12)
  })
})

describe("the latency", () => {
  it.each([
    [[95, 95, 95, 95, 95], 200],
    [[94, 95, 95, 95, 95], 500],
    [[0, 0, 0, 0, 100], 5_000],
    [[0, 0, 0, 0, 94], 7_777]
  ])("of %o within the steps is %i ms", (upTo, p95Ms) => {
    assert.strictEqual(countedCallsOf([aPair({ upTo, longestMs: 7_777 })], []).p95Ms, p95Ms)
  })

  it("is weighted by payment", () => {
    const slow = aPair({ paidMicrocents: 10n * DOLLAR, upTo: [0, 0, 100, 100, 100] })
    assert.strictEqual(countedCallsOf([slow, aPair({ paidCalls: 100_000 })], []).p95Ms, 1_000)
  })
})

describe("daily figures of pairs", () => {
  const paid: Receipt = {
    receipt_id: ReceiptId.make(`rcpt_${"0".repeat(32)}`),
    tool_id: ToolId.make(randomUUID()),
    tool_name: "echo",
    agent_id: ConsumerId.make(randomUUID()),
    provider_id: ProviderId.make(randomUUID()),
    timestamp: "2026-11-20T10:11:12.345Z",
    duration_ms: 100,
    cost_microcents: Microcents.make(500n),
    status: "success",
    signature: "0".repeat(64),
    created_at: "2026-11-20T10:11:12.445Z"
  }
  const given = (changes: Partial<Receipt>, cause?: "input_rejected") => ({ receipt: { ...paid, ...changes }, cause })

  it("contain paid calls, failed ones, and rejected input", () => {
    const days = paidDaysOf([
      given({ duration_ms: 200 }),
      given({ duration_ms: 201 }),
      given({ duration_ms: 6_000 }),
      given({ status: "error", duration_ms: 9_000 }),
      given({ cost_microcents: zero, status: "timeout" }),
      given({ cost_microcents: zero, status: "error" }, "input_rejected"),
      given({ cost_microcents: zero })
    ])
    assert.deepStrictEqual(days, [
      {
        providerId: paid.provider_id,
        consumerId: paid.agent_id,
        date: paid.timestamp.slice(0, 10),
        paidMicrocents: 2_000n,
        paidCalls: 3,
        failedCalls: 2,
        inputRejected: 1,
        upTo: [1, 2, 2, 2, 2],
        longestMs: 6_000
      }
    ])
  })

  it("omit pairs whose calls were all free and successful", () => {
    assert.deepStrictEqual(paidDaysOf([given({ cost_microcents: zero })]), [])
  })
})

describe("a fake reputation", () => {
  const evidence = (consumers: number) => ({
    level: "domain" as const,
    ...countedCallsOf(
      Array.from({ length: consumers }, () => aPair()),
      []
    ),
    disputes: { upheld: 0, denied: 0 }
  })

  it("needs three consumers that pay a dollar each", () => {
    assert.strictEqual(trustOf(evidence(2)).badge, "unrated")
    assert.strictEqual(trustOf(evidence(3)).badge, "verified")
  })
})

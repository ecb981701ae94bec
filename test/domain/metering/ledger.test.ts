import { assert, it } from "@effect/vitest"
import { DateTime } from "effect"
import { resetsAt, startOfPeriod } from "../../../domain/ledger/Budgets.ts"
import {
  AccountKind,
  callOfTransfer,
  changesOf,
  faultOf,
  isBounded,
  type Leg,
  mayBeOverdrawn,
  sameContent,
  transferOfCall
} from "../../../domain/ledger/Transfer.ts"
import { ConsumerId, ProviderId, ReceiptId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { format } from "../../../domain/shared/Time.ts"

const consumerId = ConsumerId.make("00000000-0000-7000-8000-00000000000c")
const providerId = ProviderId.make("00000000-0000-7000-8000-00000000000a")
const amount = (n: number) => Microcents.make(BigInt(n))

const refund: ReadonlyArray<Leg> = [
  {
    kind: "refund",
    debit: "provider",
    lot: "2026-11-20",
    credit: "wallet",
    amount: amount(90),
    consumerId,
    providerId
  },
  { kind: "refund", debit: "platform_fee", credit: "wallet", amount: amount(10), consumerId, providerId }
]

it("linked transfers change each account once, in the order of owners, and sum to zero", () => {
  const changes = changesOf(refund)
  assert.deepStrictEqual(
    changes.map(({ account, credits, debits, lot }) => [account, credits, debits, lot]),
    [
      ["platform_fee", 0n, 10n, undefined],
      ["provider", 0n, 90n, "2026-11-20"],
      ["wallet", 100n, 0n, undefined]
    ]
  )
  assert.strictEqual(
    changes.reduce((sum, change) => sum + change.credits - change.debits, 0n),
    0n
  )
})

it("only the processor's account, debts and losses may become negative without limit", () => {
  const payout: Leg = {
    kind: "payout",
    debit: "provider",
    credit: "payout_clearing",
    amount: amount(5),
    providerId,
    lot: "2026-11-20"
  }
  assert.deepStrictEqual(
    changesOf([payout]).map((change) => [change.account, isBounded(change)]),
    [
      ["payout_clearing", false],
      ["provider", true]
    ]
  )
  const unbounded = AccountKind.literals.filter((account) => mayBeOverdrawn(account))
  assert.deepStrictEqual(unbounded, ["processor", "consumer_debt", "loss"])
})

it("only a call's receipt makes transfers of the kinds of calls", () => {
  assert.isUndefined(faultOf({ reference: "r", legs: refund }))
  for (const kind of ["call", "fee"] as const) {
    assert.isDefined(faultOf({ reference: "r", legs: [{ ...refund[0]!, kind }] }), kind)
  }
})

it("a repetition has the same transfers, leg by leg", () => {
  const at = DateTime.makeUnsafe(0)
  const transferId = transferOfCall(ReceiptId.make(`rcpt_${"0".repeat(32)}`))
  const kept = refund.map((leg, i) => ({
    ...leg,
    transferId,
    leg: i + 1,
    reference: "r",
    effectiveAt: at,
    recordedAt: at
  }))
  assert.isTrue(sameContent(refund, kept))
  assert.isFalse(sameContent(refund.slice(0, 1), kept))
  assert.isFalse(sameContent(refund.toReversed(), kept))
  for (const change of [
    { amount: amount(91) },
    { kind: "dispute" },
    { debit: "loss" },
    { lot: "2026-11-21" },
    { consumerId: undefined }
  ]) {
    assert.isFalse(sameContent([{ ...refund[0]!, ...change } as Leg, refund[1]!], kept))
  }
})

it("a call's id and the id of its transfers convert to each other", () => {
  const id = ReceiptId.make("rcpt_019348c2a7b17c3d8e9f0123456789ab")
  assert.strictEqual(transferOfCall(id), "019348c2-a7b1-7c3d-8e9f-0123456789ab")
  assert.strictEqual(callOfTransfer(transferOfCall(id)), id)
})

it.each([
  ["day", "2026-02-28T23:59:59.999Z", "2026-02-28T00:00:00.000Z", "2026-03-01T00:00:00.000Z"],
  ["day", "2028-02-29T00:00:00.000Z", "2028-02-29T00:00:00.000Z", "2028-03-01T00:00:00.000Z"],
  ["month", "2026-12-31T23:59:59.999Z", "2026-12-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"],
  ["month", "2026-01-31T12:00:00.000Z", "2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"]
] as const)("a budget of a %s, at %s, started %s and restarts %s", (period, at, start, end) => {
  const instant = DateTime.makeUnsafe(at)
  assert.strictEqual(format(startOfPeriod(period, instant)!), start)
  assert.strictEqual(resetsAt(period, instant), end)
})

it("a budget without a period never restarts", () => {
  const instant = DateTime.makeUnsafe("2026-01-31T12:00:00.000Z")
  assert.isUndefined(startOfPeriod("total", instant))
  assert.isUndefined(resetsAt("total", instant))
})

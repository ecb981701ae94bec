/**
 * Performs the steps of a history of the model with a ledger and a call store.
 */
import { Effect } from "effect"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { feeOf } from "../../domain/ledger/PlatformFee.ts"
import { CallStore, type CloseCall, type OpenCall } from "../../domain/metering/CallStore.ts"
import { Entropy } from "../../domain/shared/Cryptography.ts"
import { type Balances, CONSUMERS, PROVIDERS, share, Step } from "./ledgerModel.ts"
import {
  aCall,
  aConsumerId,
  aProviderId,
  aToolId,
  closingOf,
  LOT,
  money,
  payoutLeg,
  platformWith
} from "./ledgerSamples.ts"

interface HistoryCall {
  readonly call: OpenCall
  readonly held: bigint
  closing: CloseCall | undefined
  refunded: boolean
}

export const aHistory = Effect.gen(function* () {
  const ledger = yield* Ledger
  const calls = yield* CallStore
  const entropy = yield* Entropy
  const consumers = yield* Effect.forEach(Array.from({ length: CONSUMERS }), () => aConsumerId)
  const providers = yield* Effect.forEach(Array.from({ length: PROVIDERS }), () => aProviderId)
  const tools = yield* Effect.forEach(providers, () => aToolId)
  // All histories of a ledger share these funds; no history uses them up.
  yield* platformWith(1_000_000_000)
  /** Newest first, as the model counts them. */
  const made: Array<HistoryCall> = []

  const close = Effect.fnUntraced(function* (one: HistoryCall, cost: bigint, status: "success" | "error") {
    const closing = yield* closingOf(one.call, { cost, status, held: one.held })
    const answer = yield* calls.close(closing)
    if (answer._tag === "Closed") one.closing = closing
    return answer._tag
  })

  const movement = (consumer: number, amount: number) =>
    Effect.map(entropy.uuid, (reference) => ({ consumerId: consumers[consumer]!, amount: money(amount), reference }))

  const tagOf = <E extends { readonly _tag: string }>(
    posting: Effect.Effect<{ readonly repeated: boolean }, E>
  ): Effect.Effect<string> =>
    Effect.match(posting, {
      onSuccess: (posted) => (posted.repeated ? "Repeated" : "Posted"),
      onFailure: (error) => error._tag
    })

  const perform = Step.match({
    Load: ({ amount, consumer }) => Effect.flatMap(movement(consumer, amount), (one) => tagOf(ledger.load(one))),
    Credit: ({ amount, consumer }) => Effect.flatMap(movement(consumer, amount), (one) => tagOf(ledger.credit(one))),
    ExpireCredit: ({ amount, consumer }) =>
      Effect.flatMap(movement(consumer, amount), (one) => tagOf(ledger.expireCredit(one))),
    Open: Effect.fnUntraced(function* ({ consumer, fee, freeCalls, price, provider }) {
      const call = yield* aCall(consumers[consumer]!, {
        providerId: providers[provider]!,
        toolId: tools[provider]!,
        holdAmount: money(price),
        feeBasisPoints: fee,
        freeTierCalls: freeCalls
      })
      const answer = yield* calls.open(call)
      if (answer._tag === "InsufficientFunds") return `${answer._tag} ${answer.availableMicrocents}`
      if (answer._tag !== "Opened") return answer._tag
      made.unshift({ call, held: answer.held, closing: undefined, refunded: false })
      return `Opened ${answer.held} ${answer.availableMicrocents}`
    }),
    Close: ({ call: at, share: percent, status }) => {
      const one = made.filter((one) => one.closing === undefined)[at]
      if (one === undefined) return Effect.succeed("none")
      return close(one, status === "success" ? share(one.held, percent) : 0n, status)
    },
    CloseAnyhow: ({ call: at }) => {
      const one = made[at]
      return one === undefined ? Effect.succeed("none") : close(one, one.held, "success")
    },
    Sweep: Effect.fnUntraced(function* ({ due }) {
      const open = made.filter((one) => due && one.closing === undefined)
      const tags = yield* Effect.forEach(open, (one) => close(one, 0n, "error"), { concurrency: "unbounded" })
      const ended = tags.filter((tag) => tag === "Closed").length
      return `${ended} swept`
    }),
    Refund: ({ call: at }) => {
      const one = made.filter((one) => (one.closing?.receipt.cost_microcents ?? 0n) > 0n)[at]
      if (one?.closing === undefined) return Effect.succeed("none")
      const { consumerId, feeBasisPoints, receipt } = one.closing
      const reference = `refund:${receipt.receipt_id}`
      const amount = receipt.cost_microcents
      const parties = { kind: "refund", consumerId, providerId: receipt.provider_id, credit: "wallet" } as const
      const fee = feeOf(amount, feeBasisPoints)
      const net = money(amount - fee)
      const legs = [
        ...(net > 0n ? [{ ...parties, debit: "provider", lot: LOT, amount: net } as const] : []),
        ...(fee > 0n ? [{ ...parties, debit: "platform_fee", amount: fee } as const] : [])
      ]
      return tagOf(ledger.post({ reference, legs })).pipe(
        Effect.tap((tag) =>
          Effect.sync(() => {
            if (tag === "Posted") one.refunded = true
          })
        )
      )
    },
    Payout: ({ amount, provider }) =>
      Effect.flatMap(entropy.uuid, (reference) =>
        tagOf(ledger.post({ reference, legs: [payoutLeg(providers[provider]!, amount)] }))
      )
  })

  const balances = Effect.gen(function* () {
    const wallets = yield* Effect.forEach(consumers, ledger.wallet)
    const earned = yield* Effect.forEach(providers, ledger.provider)
    const found: Balances = {
      available: wallets.map((wallet) => wallet.available),
      held: wallets.map((wallet) => wallet.held),
      providers: earned.map(({ balance }) => balance)
    }
    return found
  })

  /** The balances if each step did what it answered, in any order. */
  const balancesBy = (steps: ReadonlyArray<Step>, answers: ReadonlyArray<string>): Balances => {
    const available = consumers.map(() => 0n)
    const held = consumers.map(() => 0n)
    const earned = providers.map(() => 0n)
    steps.forEach((step, i) => {
      if (answers[i] !== "Posted") return
      if (step._tag === "Load" || step._tag === "Credit") available[step.consumer]! += BigInt(step.amount)
      if (step._tag === "ExpireCredit") available[step.consumer]! -= BigInt(step.amount)
      if (step._tag === "Payout") earned[step.provider]! -= BigInt(step.amount)
    })
    for (const one of made) {
      const [consumer, provider] = [consumers.indexOf(one.call.consumerId), providers.indexOf(one.call.providerId)]
      const cost = one.refunded ? 0n : one.closing?.receipt.cost_microcents
      available[consumer]! -= cost ?? one.held
      if (cost === undefined) held[consumer]! += one.held
      else earned[provider]! += cost - feeOf(cost, one.call.feeBasisPoints)
    }
    return { available, held, providers: earned }
  }

  return { perform, balances, balancesBy }
})

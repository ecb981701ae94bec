/**
 * Random histories, and a model of their result: one number for each available balance, held amount and provider balance.
 */
import { Schema } from "effect"
import { FEE_BASIS_POINTS_MAX, feeOf } from "../../domain/ledger/PlatformFee.ts"

const index = (count: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: count - 1 }))
const amount = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3_000 }))

export const CONSUMERS = 3
export const PROVIDERS = 2

export const Step = Schema.TaggedUnion({
  Load: { consumer: index(CONSUMERS), amount },
  Credit: { consumer: index(CONSUMERS), amount },
  ExpireCredit: { consumer: index(CONSUMERS), amount },
  Open: {
    consumer: index(CONSUMERS),
    provider: index(PROVIDERS),
    price: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_500 })),
    freeCalls: Schema.Literals([0, 0, 2]),
    /** Of the provider at that time, in basis points. */
    fee: Schema.Literals([1_000, 0, 1, 333, FEE_BASIS_POINTS_MAX])
  },
  /** `call` counts the open calls from the newest; `share` is how much of the held amount is billed. */
  Close: {
    call: index(4),
    status: Schema.Literals(["success", "success", "error"]),
    share: Schema.Literals([0, 37, 100])
  },
  /** `call` counts all calls from the newest, open or not. */
  CloseAnyhow: { call: index(8) },
  /** Ends all open calls, as the sweeper does, if they are due. */
  Sweep: { due: Schema.Literals([false, false, false, true]) },
  /** `call` counts the calls that cost something from the newest. */
  Refund: { call: index(3) },
  Payout: { provider: index(PROVIDERS), amount }
})
export type Step = typeof Step.Type

const { Close, CloseAnyhow, Credit, ExpireCredit, Load, Open, Payout, Refund, Sweep } = Step.cases

/** Most steps are calls. */
export const History = Schema.Array(
  Schema.Union([Open, Open, Open, Close, Close, CloseAnyhow, Load, Credit, ExpireCredit, Sweep, Refund, Refund, Payout])
).check(Schema.isMinLength(60), Schema.isMaxLength(100))

/** Starts with loads that cover most calls of the history. */
export const funded = (history: ReadonlyArray<Step>): ReadonlyArray<Step> => [
  ...Array.from({ length: CONSUMERS }, (_, consumer) => Step.make({ _tag: "Load", consumer, amount: 3_000 })),
  ...history
]

/** Each provider has one tool, so free tiers are by provider. */
interface ModelCall {
  readonly consumer: number
  readonly provider: number
  readonly held: bigint
  readonly free: boolean
  readonly fee: number
  cost: bigint | undefined
  refunded: boolean
}

export interface Balances {
  readonly available: ReadonlyArray<bigint>
  readonly held: ReadonlyArray<bigint>
  readonly providers: ReadonlyArray<bigint>
}

export const share = (held: bigint, percent: number): bigint => (held * BigInt(percent)) / 100n

/** The answer of each step, and the balances at the end. */
export const expected = (
  history: ReadonlyArray<Step>
): { readonly answers: ReadonlyArray<string>; readonly balances: Balances } => {
  const available = Array.from({ length: CONSUMERS }, () => 0n)
  const providers = Array.from({ length: PROVIDERS }, () => 0n)
  const freeUsed = new Map<string, number>()
  const calls: Array<ModelCall> = []
  const end = (call: ModelCall, cost: bigint, success: boolean) => {
    call.cost = cost
    available[call.consumer]! += call.held - cost
    providers[call.provider]! += cost - feeOf(cost, call.fee)
    const tier = `${call.consumer} ${call.provider}`
    if (call.free && !success) freeUsed.set(tier, freeUsed.get(tier)! - 1)
    return "Closed"
  }
  const answers = history.map((step) =>
    Step.match(step, {
      Load: ({ amount, consumer }) => {
        available[consumer]! += BigInt(amount)
        return "Posted"
      },
      Credit: ({ amount, consumer }) => {
        available[consumer]! += BigInt(amount)
        return "Posted"
      },
      ExpireCredit: ({ amount, consumer }) => {
        if (available[consumer]! < BigInt(amount)) return "InsufficientBalance"
        available[consumer]! -= BigInt(amount)
        return "Posted"
      },
      Open: ({ consumer, fee, freeCalls, price, provider }) => {
        const tier = `${consumer} ${provider}`
        const used = freeUsed.get(tier) ?? 0
        const free = used < freeCalls
        const held = free ? 0n : BigInt(price)
        if (held > available[consumer]!) return `InsufficientFunds ${available[consumer]}`
        if (free) freeUsed.set(tier, used + 1)
        available[consumer]! -= held
        calls.unshift({ consumer, provider, held, free, fee, cost: undefined, refunded: false })
        return `Opened ${held} ${available[consumer]}`
      },
      Close: ({ call: at, share: percent, status }) => {
        const call = calls.filter((call) => call.cost === undefined)[at]
        if (call === undefined) return "none"
        return end(call, status === "success" ? share(call.held, percent) : 0n, status === "success")
      },
      CloseAnyhow: ({ call: at }) => {
        const call = calls[at]
        if (call === undefined) return "none"
        return call.cost === undefined ? end(call, call.held, true) : "AlreadyClosed"
      },
      Sweep: ({ due }) => {
        const open = calls.filter((call) => due && call.cost === undefined)
        for (const call of open) end(call, 0n, false)
        return `${open.length} swept`
      },
      Refund: ({ call: at }) => {
        const call = calls.filter((call) => call.cost !== undefined && call.cost > 0n)[at]
        if (call?.cost === undefined) return "none"
        if (call.refunded) return "Repeated"
        // A refund never makes the provider's balance negative.
        const net = call.cost - feeOf(call.cost, call.fee)
        if (providers[call.provider]! < net) return "InsufficientBalance"
        call.refunded = true
        available[call.consumer]! += call.cost
        providers[call.provider]! -= net
        return "Posted"
      },
      Payout: ({ amount, provider }) => {
        if (providers[provider]! < BigInt(amount)) return "InsufficientBalance"
        providers[provider]! -= BigInt(amount)
        return "Posted"
      }
    })
  )
  const held = available.map((_, consumer) =>
    calls.reduce((sum, call) => (call.consumer === consumer && call.cost === undefined ? sum + call.held : sum), 0n)
  )
  return { answers, balances: { available, held, providers } }
}

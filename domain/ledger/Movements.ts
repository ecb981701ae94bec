/**
 * The legs of the ledger's own movements, as pure functions of what the consumer has and owes. Incoming money pays a
 * debt first.
 */
import type { ConsumerId } from "../shared/Ids.ts"
import { Microcents } from "../shared/Microcents.ts"
import type { ConsumerFunds } from "./LedgerStore.ts"
import type { AccountKind, Leg, Transfer, TransferKind } from "./Transfer.ts"

/** An amount that enters or leaves one wallet. */
export interface WalletAmount {
  readonly consumerId: ConsumerId
  readonly amount: Microcents
}

/** A refund at the processor, or a chargeback. */
export interface ReversedLoad extends WalletAmount {
  readonly cause: "refund" | "dispute"
}

/** Incoming money of a consumer: its source, and the owner of that account. */
export type Source = Omit<Leg, "credit">

export const legsOf = (...legs: ReadonlyArray<Leg>): ReadonlyArray<Leg> => legs.filter((leg) => leg.amount > 0n)

/** Credits the consumer's wallet; a debt is paid first, from the first sources. */
export const intoWallet = (
  sources: ReadonlyArray<Source>,
  { owedMicrocents }: Pick<ConsumerFunds, "owedMicrocents">
): ReadonlyArray<Leg> => {
  let owed = owedMicrocents
  return sources.flatMap((source) => {
    const paid = owed < source.amount ? owed : source.amount
    owed -= paid
    return legsOf(
      { ...source, credit: "consumer_debt", amount: Microcents.make(paid) },
      { ...source, credit: "wallet", amount: Microcents.make(source.amount - paid) }
    )
  })
}

/** Through the clearing account, which returns to zero when both movements have happened. */
export const loadLegs = (load: WalletAmount, funds: ConsumerFunds): ReadonlyArray<Leg> => [
  { ...amountOf(load), kind: "load", debit: "processor", credit: "load_clearing" },
  ...intoWallet([{ ...amountOf(load), kind: "load", debit: "load_clearing" }], funds)
]

/** Takes the available part from the wallet; the rest becomes the consumer's debt, a recorded loss until it is paid. */
export const reversalLegs = (back: ReversedLoad, { availableMicrocents }: ConsumerFunds): ReadonlyArray<Leg> => {
  const { account, kind } = CLEARING[back.cause]
  const available = availableMicrocents < back.amount ? availableMicrocents : back.amount
  const parties = { kind, consumerId: back.consumerId, credit: account }
  return [
    ...legsOf(
      { ...parties, debit: "wallet", amount: Microcents.make(available) },
      { ...parties, debit: "consumer_debt", amount: Microcents.make(back.amount - available) }
    ),
    { ...amountOf(back), kind, debit: account, credit: "processor" }
  ]
}

export const reinstatementLegs = (back: ReversedLoad, funds: ConsumerFunds): ReadonlyArray<Leg> => {
  const { account, kind } = CLEARING[back.cause]
  return [
    { ...amountOf(back), kind, debit: "processor", credit: account },
    ...intoWallet([{ ...amountOf(back), kind, debit: account }], funds)
  ]
}

/** Credit from platform funds. */
export const creditLegs = (credit: WalletAmount, funds: ConsumerFunds): ReadonlyArray<Leg> =>
  intoWallet([{ ...amountOf(credit), kind: "credit", debit: "platform_fee" }], funds)

/** The total amount of a movement: that of its one leg to or from the given account. */
export const throughAccount = (account: AccountKind, transfers: ReadonlyArray<Transfer>): bigint =>
  transfers.reduce(
    (sum, { amount, credit, debit }) => (debit === account || credit === account ? sum + amount : sum),
    0n
  )

const amountOf = ({ consumerId, amount }: WalletAmount) => ({ consumerId, amount })

const CLEARING = {
  refund: { kind: "load", account: "refund_clearing" },
  dispute: { kind: "dispute", account: "dispute_clearing" }
} as const satisfies Readonly<
  Record<ReversedLoad["cause"], { readonly kind: TransferKind; readonly account: AccountKind }>
>

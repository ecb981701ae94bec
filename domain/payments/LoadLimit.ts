/**
 * Limits what a new account loads per day. Stolen cards are tested with loads; this bounds the loss until the first
 * chargeback.
 */
import { Context, DateTime, Effect, Option, Schema } from "effect"
import { AccountStore } from "../accounts/AccountStore.ts"
import { LedgerStore } from "../ledger/LedgerStore.ts"
import type { ConsumerId } from "../shared/Ids.ts"
import { format } from "../shared/Timestamp.ts"
import { type Load, LoadStore } from "./LoadStore.ts"
import { PaymentGateway } from "../ledger/PaymentGateway.ts"

export const NEW_ACCOUNT_DAYS = 30
export const NEW_ACCOUNT_LOAD_CENTS_PER_DAY = 100_000
const WINDOW_HOURS = 24

/** Cents per day; 0: no limit. Undefined: the default with a payment processor, no limit in a dry run. */
export const NewAccountLoadLimit = Context.Reference<number | undefined>(
  "agent-tool-billing/domain/payments/NewAccountLoadLimit",
  { defaultValue: () => undefined }
)

const dollars = (cents: number): string => `$${(cents / 100).toFixed(2)}`

/** A new account adds a limited amount a day, because stolen cards are used up quickly. */
export class LoadLimitReached extends Schema.TaggedError<LoadLimitReached>()("LoadLimitReached", {
  amountCents: Schema.Int,
  limitCents: Schema.Int,
  leftCents: Schema.Int,
  /** When this amount fits. */
  retryAt: Schema.String
}) {
  override get message() {
    return (
      `An account loads at most ${dollars(this.limitCents)} in 24 hours during its first ${NEW_ACCOUNT_DAYS} days, open ` +
      `checkouts included; ${dollars(this.leftCents)} is left. You can load ${dollars(this.amountCents)} from ` +
      `${this.retryAt}.`
    )
  }
}

/** Call it in the unit of work that inserts the load: loads of one consumer then run one after the other. */
export const makeLoadLimit = Effect.gen(function* () {
  const accounts = yield* AccountStore
  const ledger = yield* LedgerStore
  const store = yield* LoadStore
  const gateway = yield* PaymentGateway
  const configured = yield* NewAccountLoadLimit
  const limitCents = configured ?? (gateway.mode === "live" ? NEW_ACCOUNT_LOAD_CENTS_PER_DAY : 0)

  return Effect.fnUntraced(function* (consumerId: ConsumerId, amountCents: number, now: DateTime.Utc) {
    if (limitCents === 0) return
    const account = Option.getOrUndefined(yield* accounts.findConsumer(consumerId))
    const limitEndsAt = DateTime.add(account?.createdAt ?? now, { days: NEW_ACCOUNT_DAYS })
    if (DateTime.isGreaterThanOrEqualTo(now, limitEndsAt)) return
    // Locks the wallet.
    yield* ledger.lockedFunds(consumerId)
    const counted = yield* store.pendingOrPaidSince(consumerId, DateTime.subtract(now, { hours: WINDOW_HOURS }))
    const leftCents = Math.max(0, limitCents - counted.reduce((sum, load) => sum + load.amountCents, 0))
    if (amountCents <= leftCents) return
    const fits = amountCents > limitCents ? limitEndsAt : freeAt(counted, amountCents - leftCents)
    return yield* new LoadLimitReached({
      amountCents,
      limitCents,
      leftCents,
      retryAt: format(DateTime.isLessThan(fits, limitEndsAt) ? fits : limitEndsAt)
    })
  })
})

/** When that much of the counted loads is a day old. An open checkout expires by then. */
const freeAt = (counted: ReadonlyArray<Load>, neededCents: number): DateTime.Utc => {
  const byAge = counted
    .map((load) => ({
      cents: load.amountCents,
      at: DateTime.add(load.paidAt ?? load.createdAt, { hours: WINDOW_HOURS })
    }))
    .toSorted((a, b) => a.at.epochMilliseconds - b.at.epochMilliseconds)
  let freed = 0
  return byAge.find(({ cents }) => (freed += cents) >= neededCents)?.at ?? byAge.at(-1)!.at
}

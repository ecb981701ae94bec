/**
 * A consumer who has paid for its funds.
 */
import { Effect } from "effect"
import { Registration } from "../domain/providers/Registration.ts"
import { Ledger } from "../domain/ledger/Ledger.ts"
import { Loads } from "../domain/payments/Loads.ts"
import type { ConsumerId } from "../domain/shared/Ids.ts"
import type { StoreUnavailable } from "../domain/shared/StoreUnavailable.ts"
import { payCheckout } from "./Checkouts.ts"

/** A registered consumer with funds. */
export interface TestConsumer {
  readonly id: ConsumerId
  /** Its API key. */
  readonly key: string
  /** In microcents, without the holds of open calls. */
  readonly available: Effect.Effect<bigint, StoreUnavailable>
}

/** What the test decides of a consumer; everything else is made up. */
export interface ConsumerOptions {
  readonly name?: string
  readonly email?: string
  /** Loaded and paid; at least 100, or 0 for none. Default: 500. */
  readonly cents?: number
}

export const aConsumer = Effect.fnUntraced(function* ({
  cents = 500,
  email = "agent@example.org",
  name = "An agent"
}: ConsumerOptions = {}) {
  const ledger = yield* Ledger
  const { consumer, minted } = yield* (yield* Registration).consumer(
    { name, email, useCase: "", rateLimitRpm: undefined },
    undefined
  )
  if (cents > 0) {
    const loaded = yield* (yield* Loads).load({ consumerId: consumer.id, amountCents: cents, key: undefined })
    if (loaded.mode === "live") yield* payCheckout(loaded.sessionId)
  }
  const one: TestConsumer = {
    id: consumer.id,
    key: minted.secret,
    available: Effect.map(ledger.wallet(consumer.id), ({ available }) => available)
  }
  return one
})

/**
 * The payment gateway: Stripe, or the dry run. Stripe's library is large and loaded only if needed. A node does not
 * start on a ledger of another mode or account.
 */
import { Effect, Layer, Option } from "effect"
import * as DryRunGateway from "../../adapters/payments/DryRunGateway.ts"
import { mayStartOn, WrongBook } from "../../domain/ledger/Book.ts"
import { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import { PaymentGateway } from "../../domain/ledger/PaymentGateway.ts"
import type { AppConfig } from "../config/AppConfig.ts"
import { needing } from "./OptionalPackages.ts"

export const gateway = (config: AppConfig) =>
  config.PAYMENTS === "stripe"
    ? Layer.unwrap(
        Effect.map(
          needing("stripe", () => import("../../adapters/payments/StripeGateway.ts")),
          (StripeGateway) =>
            StripeGateway.layer({
              secretKey: config.STRIPE_SECRET_KEY!,
              webhookSecret: config.STRIPE_WEBHOOK_SECRET,
              apiBase: config.STRIPE_API_BASE
            })
        )
      )
    : DryRunGateway.layer

/**
 * A processor that does not respond does not prevent the start: no posting is possible until it has identified its
 * account.
 */
const check = Effect.gen(function* () {
  const { book, bookMode } = yield* PaymentGateway
  const found = yield* (yield* LedgerStore).book
  if (bookMode !== undefined && Option.isSome(found) && found.value.mode !== bookMode) {
    return yield* new WrongBook({ found: found.value, own: { mode: bookMode, accountId: undefined } })
  }
  const own = yield* Effect.result(book)
  if (own._tag === "Success") return yield* mayStartOn(found, own.success)
  if (own.failure.definite) return yield* own.failure
  yield* Effect.logWarning(
    `Started without a response from the payment processor about its account. ${own.failure.message}`
  )
})

export const sameBook = Layer.effectDiscard(check)

export const payments = (config: AppConfig) => sameBook.pipe(Layer.provideMerge(gateway(config)))

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
import type { SettingValue } from "../config/Settings.ts"
import { needing } from "./OptionalPackages.ts"

/** Every value of `PAYMENTS` has its gateway: another value does not compile until it has one. */
const gateways = {
  dry_run: () => DryRunGateway.layer,
  stripe: (config: AppConfig) =>
    Layer.unwrap(
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
} satisfies Record<SettingValue<"PAYMENTS">, unknown>

/** The default of memory and embedded is a dry run. */
export const gateway = (config: AppConfig) => gateways[config.PAYMENTS ?? "dry_run"](config)

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

/**
 * Who moves the money: Stripe, or nobody. Stripe's library is large, and is loaded only where it is asked for.
 */
import { Effect, Layer } from "effect"
import * as DryRunGateway from "../../adapters/payments/DryRunGateway.ts"
import { onlyPaidMoney } from "../../domain/payments/PretendedMoney.ts"
import type { AppConfig } from "../config/AppConfig.ts"

export const payments = (config: AppConfig) =>
  config.PAYMENTS === "stripe"
    ? Layer.unwrap(
        Effect.map(
          Effect.andThen(
            onlyPaidMoney,
            Effect.promise(() => import("../../adapters/payments/StripeGateway.ts"))
          ),
          (StripeGateway) =>
            StripeGateway.layer({
              secretKey: config.STRIPE_SECRET_KEY!,
              webhookSecret: config.STRIPE_WEBHOOK_SECRET,
              apiBase: config.STRIPE_API_BASE
            })
        )
      )
    : DryRunGateway.layer

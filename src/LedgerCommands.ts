/**
 * `invoices` and `payouts`: run jobs of the service by hand.
 */
import { Console, Effect, Layer, Result, Schema } from "effect"
import * as NodeDigest from "../adapters/crypto/NodeDigest.ts"
import * as NodeEntropy from "../adapters/crypto/NodeEntropy.ts"
import { makePayoutAttempts } from "../domain/earnings/Payouts.ts"
import { amountText, Month } from "../domain/invoices/Invoice.ts"
import { Invoicing, monthBefore } from "../domain/invoices/Invoicing.ts"
import { DatabaseTime } from "../domain/shared/Time.ts"
import type { AppConfig } from "./config/AppConfig.ts"
import { ArgumentsInvalid } from "./config/Arguments.ts"
import { recovery } from "./layers/Core.ts"
import { database } from "./layers/Database.ts"
import { payments } from "./layers/Payments.ts"
import { storesOfCommands } from "./layers/PostgresStores.ts"

const services = (config: AppConfig) =>
  Invoicing.layer.pipe(
    Layer.provideMerge(recovery),
    Layer.provideMerge(
      Layer.mergeAll(storesOfCommands, Layer.provide(payments(config), storesOfCommands), NodeDigest.layer)
    ),
    Layer.provideMerge(Layer.merge(database(config), NodeEntropy.layer))
  )

const NO_LEDGER = Console.log("The memory profile has no stored ledger.")

export const closeMonth = (config: AppConfig, given: string | undefined, supplement: boolean) =>
  config.profile === "memory"
    ? NO_LEDGER
    : Effect.gen(function* () {
        const invoicing = yield* Invoicing
        const month = given === undefined ? monthBefore(yield* (yield* DatabaseTime).now) : yield* monthOf(given)
        const { agrees, documents, issued, ledger } = supplement
          ? yield* invoicing.supplement(month)
          : yield* invoicing.close(month)
        yield* Console.log(
          `${month}: created ${issued} documents, ${documents} in total, for ${amountText(ledger)} of calls. ` +
            (agrees ? "Invoices, statements and ledger agree." : "Invoices, statements and ledger do NOT agree.")
        )
      }).pipe(Effect.provide(services(config)))

export const workOnPayouts = (config: AppConfig) =>
  config.profile === "memory"
    ? NO_LEDGER
    : Effect.gen(function* () {
        yield* Console.log(`${yield* (yield* makePayoutAttempts).work} payouts completed.`)
      }).pipe(Effect.provide(services(config)))

const monthOf = (given: string) => {
  const month = Schema.decodeUnknownResult(Month)(given)
  return Result.isSuccess(month)
    ? Effect.succeed(month.success)
    : Effect.fail(new ArgumentsInvalid({ problem: `"${given}" is not a month. Use the form 2026-10.` }))
}

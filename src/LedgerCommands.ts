/**
 * `audit` recomputes every balance from the transfers and the fee of every call from its id, and compares fees with their
 * history. `invoices` and `payouts` run jobs of the service by hand.
 */
import { Console, Effect, Layer, Result, Schema } from "effect"
import * as NodeDigest from "../adapters/crypto/NodeDigest.ts"
import * as NodeEntropy from "../adapters/crypto/NodeEntropy.ts"
import { auditFees } from "../adapters/sql/accounts/FeeAudit.ts"
import * as PostgresLedgerStore from "../adapters/sql/ledger/PostgresLedgerStore.ts"
import { archiveFaults } from "../adapters/sql/receipts/ReceiptArchive.ts"
import { storeSql } from "../adapters/sql/shared/StoreSql.ts"
import * as PostgresUnitOfWork from "../adapters/sql/shared/PostgresUnitOfWork.ts"
import { makePayoutAttempts } from "../domain/earnings/Payouts.ts"
import { amountText, Month } from "../domain/invoices/Invoice.ts"
import { Invoicing, monthBefore } from "../domain/invoices/Invoicing.ts"
import { Ledger } from "../domain/ledger/Ledger.ts"
import type { Discrepancy } from "../domain/ledger/LedgerStore.ts"
import { DefaultFeeBasisPoints } from "../domain/ledger/PlatformFee.ts"
import { databaseTime } from "../domain/shared/Time.ts"
import { formatAmount } from "../domain/shared/Microcents.ts"
import { type AppConfig, valueOf } from "./config/AppConfig.ts"
import { recovery } from "./layers/Core.ts"
import { database } from "./layers/Database.ts"
import { payments } from "./layers/Payments.ts"
import { storesOfCommands } from "./layers/PostgresStores.ts"
import { failed } from "./user/CommandFailure.ts"

const NO_LEDGER = Console.log("The memory profile has no stored ledger.")

const SOURCE: Readonly<Record<Discrepancy["figure"], string>> = {
  credits: "the transfers",
  debits: "the transfers",
  held: "the open calls",
  fee: "its id",
  fee_bps: "its id"
}

/** With a folder of archives, also from its files. */
export const audit = (config: AppConfig, files?: string) =>
  config.profile === "memory"
    ? NO_LEDGER
    : Effect.gen(function* () {
        const ledger = yield* Ledger
        const { balanced, solvency } = yield* ledger.trialBalance
        const { transfers, accounts, openCalls, discrepancies } = yield* ledger.audit
        const findings = [
          ...(balanced ? [] : ["  Total credits and total debits differ."]),
          ...(solvency.unbackedMicrocents === 0n
            ? []
            : [`  ${formatAmount(solvency.unbackedMicrocents)} is spendable or withdrawable but was never received.`]),
          ...discrepancies.map(
            (one) =>
              `  ${one.account} of ${one.ownerId}: ${one.figure} is ${one.kept}, recomputed from ${SOURCE[one.figure]} ${one.recomputed}`
          ),
          ...(yield* auditFees).map((finding) => `  ${finding}`),
          ...(files === undefined ? [] : yield* archiveFaults(yield* storeSql, files)).map((fault) => `  ${fault}`)
        ]
        if (findings.length > 0) return yield* failed("failed", `The ledger is inconsistent:\n${findings.join("\n")}`)
        const { shortfallMicrocents } = solvency
        const shortfall =
          shortfallMicrocents === 0n ? "" : ` Recorded losses not covered: ${formatAmount(shortfallMicrocents)}.`
        yield* Console.log(
          `The ledger is consistent: ${transfers} transfers, ${accounts} accounts, ${openCalls} open calls. Unbacked: 0.${shortfall}`
        )
      }).pipe(
        Effect.provide(
          Ledger.layer.pipe(
            Layer.provide([PostgresLedgerStore.layer, PostgresUnitOfWork.layer]),
            Layer.provide(NodeEntropy.layer),
            Layer.provideMerge(database(config)),
            Layer.provideMerge(Layer.succeed(DefaultFeeBasisPoints, valueOf(config, "PLATFORM_FEE_BASIS_POINTS")))
          )
        )
      )

const services = (config: AppConfig) =>
  Invoicing.layer.pipe(
    Layer.provideMerge(recovery),
    Layer.provideMerge(
      Layer.mergeAll(storesOfCommands, Layer.provide(payments(config), storesOfCommands), NodeDigest.layer)
    ),
    Layer.provideMerge(Layer.merge(database(config), NodeEntropy.layer))
  )

export const closeMonth = (config: AppConfig, given: string | undefined, supplement: boolean) =>
  config.profile === "memory"
    ? NO_LEDGER
    : Effect.gen(function* () {
        const invoicing = yield* Invoicing
        const month = given === undefined ? monthBefore(yield* yield* databaseTime) : yield* monthOf(given)
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

export const monthOf = (given: string) => {
  const month = Schema.decodeUnknownResult(Month)(given)
  return Result.isSuccess(month)
    ? Effect.succeed(month.success)
    : Effect.fail(failed("invalid", `"${given}" is not a month. Use the form 2026-10.`))
}

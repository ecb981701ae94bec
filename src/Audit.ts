/**
 * `audit`: recomputes every balance from the transfers, and the fee of every call from its id, and compares fees with their
 * history. Exit code 1 if one differs.
 */
import { Console, Effect, Layer, Schema } from "effect"
import * as NodeEntropy from "../adapters/crypto/NodeEntropy.ts"
import * as PostgresLedgerStore from "../adapters/sql/ledger/PostgresLedgerStore.ts"
import * as PostgresUnitOfWork from "../adapters/sql/shared/PostgresUnitOfWork.ts"
import { auditFees } from "../adapters/sql/accounts/FeeAudit.ts"
import { Ledger } from "../domain/ledger/Ledger.ts"
import { DefaultFeeBasisPoints } from "../domain/ledger/PlatformFee.ts"
import type { Discrepancy } from "../domain/ledger/LedgerStore.ts"
import { formatAmount } from "../domain/shared/Microcents.ts"
import { type AppConfig, valueOf } from "./config/AppConfig.ts"
import { database } from "./layers/Database.ts"

export class LedgerInconsistent extends Schema.TaggedError<LedgerInconsistent>()("LedgerInconsistent", {
  findings: Schema.String
}) {
  override get message() {
    return `The ledger is inconsistent:\n${this.findings}`
  }
}

const SOURCE: Readonly<Record<Discrepancy["figure"], string>> = {
  credits: "the transfers",
  debits: "the transfers",
  held: "the open calls",
  fee: "its id",
  fee_bps: "its id"
}

export const audit = (config: AppConfig) =>
  config.profile === "memory"
    ? Console.log("The memory profile has no stored ledger.")
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
          ...(yield* auditFees).map((finding) => `  ${finding}`)
        ]
        if (findings.length > 0) return yield* new LedgerInconsistent({ findings: findings.join("\n") })
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

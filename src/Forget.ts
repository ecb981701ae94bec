/**
 * `forget <account id> --by <who>`: erases an account's personal data and records who requested it.
 */
import { Console, DateTime, Effect, Layer } from "effect"
import * as PostgresAccountStore from "../adapters/sql/accounts/PostgresAccountStore.ts"
import * as PostgresBudgetStore from "../adapters/sql/ledger/PostgresBudgetStore.ts"
import * as PostgresCatalogStore from "../adapters/sql/catalog/PostgresCatalogStore.ts"
import * as PostgresChangeFeed from "../adapters/sql/shared/PostgresChangeFeed.ts"
import * as PostgresClaimStore from "../adapters/sql/refunds/PostgresClaimStore.ts"
import * as PostgresDisputeStore from "../adapters/sql/trust/PostgresDisputeStore.ts"
import * as PostgresGrantStore from "../adapters/sql/metering/PostgresGrantStore.ts"
import * as PostgresHandleStore from "../adapters/sql/accounts/PostgresHandleStore.ts"
import * as PostgresKeyStore from "../adapters/sql/accounts/PostgresKeyStore.ts"
import * as PostgresLedgerStore from "../adapters/sql/ledger/PostgresLedgerStore.ts"
import * as PostgresLoadStore from "../adapters/sql/payments/PostgresLoadStore.ts"
import * as PostgresNamePinStore from "../adapters/sql/metering/PostgresNamePinStore.ts"
import * as PostgresPayeeStore from "../adapters/sql/payouts/PostgresPayeeStore.ts"
import * as PostgresPayoutStore from "../adapters/sql/payouts/PostgresPayoutStore.ts"
import * as PostgresSubmissionStore from "../adapters/sql/platform/PostgresSubmissionStore.ts"
import * as PostgresUnitOfWork from "../adapters/sql/shared/PostgresUnitOfWork.ts"
import * as PostgresVerificationStore from "../adapters/sql/trust/PostgresVerificationStore.ts"
import * as PostgresWaitlistStore from "../adapters/sql/platform/PostgresWaitlistStore.ts"
import * as PostgresWithdrawalStore from "../adapters/sql/payments/PostgresWithdrawalStore.ts"
import * as NodeEntropy from "../adapters/crypto/NodeEntropy.ts"
import { Erasure, ERASED_BY_CHARS_MAX } from "../domain/erasure/Erasure.ts"
import type { AppConfig } from "./config/AppConfig.ts"
import { ArgumentsInvalid, type ForgetOptions } from "./config/Arguments.ts"
import { database } from "./layers/Database.ts"

const USAGE =
  "Usage: forget <account id> --by <requester> [--leave-money]. The id is a consumer's or a provider's, as in " +
  "/api/v1/market/keys or a receipt."
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u

const erasure = (config: AppConfig) =>
  Erasure.layer.pipe(
    Layer.provide([
      PostgresAccountStore.layer,
      PostgresBudgetStore.layer,
      PostgresCatalogStore.layer,
      PostgresChangeFeed.layer,
      PostgresClaimStore.layer,
      PostgresDisputeStore.layer,
      PostgresGrantStore.layer,
      PostgresHandleStore.layer,
      PostgresKeyStore.layer,
      PostgresLedgerStore.layer,
      PostgresLoadStore.layer,
      PostgresNamePinStore.layer,
      PostgresPayeeStore.layer,
      PostgresPayoutStore.layer,
      PostgresSubmissionStore.layer,
      PostgresUnitOfWork.layer,
      PostgresVerificationStore.layer,
      PostgresWaitlistStore.layer,
      PostgresWithdrawalStore.layer
    ]),
    Layer.provide([database(config), NodeEntropy.layer])
  )

export const forget = Effect.fnUntraced(function* (
  config: AppConfig,
  ownerId: string | undefined,
  { by = "", leaveMoney }: ForgetOptions
) {
  const isNamed = by.trim() !== "" && by.trim().length <= ERASED_BY_CHARS_MAX
  if (ownerId === undefined || !UUID.test(ownerId) || !isNamed) return yield* new ArgumentsInvalid({ problem: USAGE })
  if (config.profile === "memory") return yield* Console.log("The memory profile stores no accounts.")
  const { record, repeated } = yield* Effect.flatMap(Erasure, ({ erase }) =>
    erase({ ownerId, by: by.trim(), leaveMoney })
  ).pipe(Effect.provide(erasure(config)))
  const money = record.leftMicrocents === 0n ? "" : ` ${record.leftMicrocents} microcents stay in the ledger.`
  yield* Console.log(
    `The ${record.role} ${ownerId} was erased by ${record.by} at ${DateTime.formatIso(record.at)}` +
      `${repeated ? ", and again now" : ""}.${money} Store its id outside of the database: a restored backup contains the account again.`
  )
})

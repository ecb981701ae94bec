/**
 * `forget <account id> --by <who>`: erases an account's personal data and records who requested it.
 */
import { Console, DateTime, Effect, Layer } from "effect"
import * as NodeEntropy from "../adapters/crypto/NodeEntropy.ts"
import { Erasure, ERASED_BY_CHARS_MAX } from "../domain/erasure/Erasure.ts"
import { formatAmount } from "../domain/shared/Microcents.ts"
import type { AppConfig } from "./config/AppConfig.ts"
import { ArgumentsInvalid, type ForgetOptions } from "./config/Arguments.ts"
import { database } from "./layers/Database.ts"
import { storesOfCommands } from "./layers/PostgresStores.ts"

const USAGE =
  "Usage: forget <account id> --by <requester> [--leave-money]. The id is a consumer's or a provider's, as in " +
  "/api/v1/market/keys or a receipt."
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u

const erasure = (config: AppConfig) =>
  Erasure.layer.pipe(Layer.provide(storesOfCommands), Layer.provide([database(config), NodeEntropy.layer]))

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
  const money = record.leftMicrocents === 0n ? "" : ` ${formatAmount(record.leftMicrocents)} stays in the ledger.`
  yield* Console.log(
    `The ${record.role} ${ownerId} was erased by ${record.by} at ${DateTime.formatIso(record.at)}` +
      `${repeated ? ", and again now" : ""}.${money} Store its id outside of the database: a restored backup contains the account again.`
  )
})

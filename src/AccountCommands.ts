/**
 * `forget` erases an account's personal data, and `end-sessions` ends every session of the operator, such as one that was
 * stolen. Both record who requested it.
 */
import { Console, DateTime, Effect, Layer } from "effect"
import * as NodeEntropy from "../adapters/crypto/NodeEntropy.ts"
import { OperatorSessionStore } from "../domain/accounts/Authentication.ts"
import { Erasure, ERASED_BY_CHARS_MAX } from "../domain/erasure/Erasure.ts"
import { AuditTrail } from "../domain/operator/AuditTrail.ts"
import { formatAmount } from "../domain/shared/Microcents.ts"
import type { AppConfig } from "./config/AppConfig.ts"
import { database } from "./layers/Database.ts"
import { storesOfCommands } from "./layers/PostgresStores.ts"
import { failed } from "./user/CommandFailure.ts"

const SESSIONS_ENDED_BY_CHARS_MAX = 100
const REASON_CHARS_MAX = 500
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u

const services = (config: AppConfig) =>
  Layer.merge(Erasure.layer, AuditTrail.layer).pipe(
    Layer.provideMerge(storesOfCommands),
    Layer.provide([database(config), NodeEntropy.layer])
  )

export const forget = Effect.fnUntraced(function* (
  config: AppConfig,
  ownerId: string,
  given: { readonly by: string; readonly leaveMoney: boolean }
) {
  if (!UUID.test(ownerId)) {
    return yield* failed(
      "invalid",
      `${ownerId} is not the id of a consumer or a provider, as in /api/v1/market/keys or a receipt.`
    )
  }
  const by = yield* shortText("--by", given.by, ERASED_BY_CHARS_MAX)
  if (config.profile === "memory") return yield* Console.log("The memory profile stores no accounts.")
  const { record, repeated } = yield* Effect.flatMap(Erasure, ({ erase }) =>
    erase({ ownerId, by, leaveMoney: given.leaveMoney })
  ).pipe(Effect.provide(services(config)))
  const money = record.leftMicrocents === 0n ? "" : ` ${formatAmount(record.leftMicrocents)} stays in the ledger.`
  yield* Console.log(
    `The ${record.role} ${ownerId} was erased by ${record.by} at ${DateTime.formatIso(record.at)}` +
      `${repeated ? ", and again now" : ""}.${money} Store its id outside of the database: a restored backup contains the account again.`
  )
})

export const endSessions = Effect.fnUntraced(function* (
  config: AppConfig,
  given: { readonly by: string; readonly reason: string }
) {
  const actor = yield* shortText("--by", given.by, SESSIONS_ENDED_BY_CHARS_MAX)
  const reason = yield* shortText("--reason", given.reason, REASON_CHARS_MAX)
  if (config.profile === "memory") return yield* Console.log("The memory profile stores no sessions.")
  const ended = yield* Effect.gen(function* () {
    const { endAll } = yield* OperatorSessionStore
    const { audited } = yield* AuditTrail
    return yield* audited(endAll, {
      action: "session.end_all",
      actor,
      sessionId: undefined,
      address: "command line",
      subject: undefined,
      reason,
      details: undefined
    })
  }).pipe(Effect.provide(services(config)))
  yield* Console.log(
    `${ended} ${ended === 1 ? "session was" : "sessions were"} ended. OPERATOR_KEY still signs in: change it if others may know it.`
  )
})

const shortText = (flag: string, text: string, charsMax: number) => {
  const trimmed = text.trim()
  return trimmed !== "" && trimmed.length <= charsMax
    ? Effect.succeed(trimmed)
    : Effect.fail(failed("invalid", `${flag} must have 1 to ${charsMax} characters; it has ${trimmed.length}.`))
}

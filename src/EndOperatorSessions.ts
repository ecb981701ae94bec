/**
 * `end-sessions --by <who> --reason <why>`: ends every session of the operator, such as one that was stolen.
 */
import { Console, Effect, Layer } from "effect"
import * as NodeEntropy from "../adapters/crypto/NodeEntropy.ts"
import { OperatorSessionStore } from "../domain/accounts/Authentication.ts"
import { AuditTrail } from "../domain/operator/AuditTrail.ts"
import type { AppConfig } from "./config/AppConfig.ts"
import { ArgumentsInvalid, type EndSessionsOptions } from "./config/Arguments.ts"
import { database } from "./layers/Database.ts"
import { storesOfCommands } from "./layers/PostgresStores.ts"

const BY_CHARS_MAX = 100
const REASON_CHARS_MAX = 500
const USAGE =
  `Usage: end-sessions --by <your name> --reason <why>, of at most ${BY_CHARS_MAX} and ${REASON_CHARS_MAX} characters. ` +
  "Both are recorded in the audit trail."

const stores = (config: AppConfig) =>
  AuditTrail.layer.pipe(Layer.provideMerge(storesOfCommands), Layer.provide([database(config), NodeEntropy.layer]))

export const endSessions = Effect.fnUntraced(function* (config: AppConfig, options: EndSessionsOptions) {
  const [by = "", reason = ""] = [options.by?.trim(), options.reason?.trim()]
  if (by === "" || by.length > BY_CHARS_MAX || reason === "" || reason.length > REASON_CHARS_MAX) {
    return yield* new ArgumentsInvalid({ problem: USAGE })
  }
  if (config.profile === "memory") return yield* Console.log("The memory profile stores no sessions.")
  const ended = yield* Effect.gen(function* () {
    const { endAll } = yield* OperatorSessionStore
    const { audited } = yield* AuditTrail
    return yield* audited(endAll, {
      action: "session.end_all",
      actor: by,
      sessionId: undefined,
      address: "command line",
      subject: undefined,
      reason,
      details: undefined
    })
  }).pipe(Effect.provide(stores(config)))
  yield* Console.log(
    `${ended} ${ended === 1 ? "session was" : "sessions were"} ended. OPERATOR_KEY still signs in: change it if others may know it.`
  )
})

/**
 * `begin-log`: starts a new log after the database lost a part of the old one, with a signed statement about it.
 */
import { Console, Effect, Layer } from "effect"
import * as NodeDigest from "../adapters/crypto/NodeDigest.ts"
import * as NodeEntropy from "../adapters/crypto/NodeEntropy.ts"
import * as PostgresLogStore from "../adapters/sql/log/PostgresLogStore.ts"
import { LogSuccession } from "../domain/log/LogSuccession.ts"
import { LogHome } from "../domain/log/Sequencer.ts"
import type { AppConfig } from "./config/AppConfig.ts"
import { database } from "./layers/Database.ts"
import { baseUrlOf, logHome, logSigner } from "./layers/Secrets.ts"

export const beginLog = (config: AppConfig) =>
  config.profile === "memory"
    ? Console.log("The memory profile has no stored log.")
    : Effect.gen(function* () {
        const { origin, statement } = yield* (yield* LogSuccession).begin
        yield* Console.log(`Started the log ${origin}. Publish its statement:\n\n${statement}`)
      }).pipe(
        Effect.provide(
          LogSuccession.layer.pipe(
            Layer.provide([PostgresLogStore.layer, logSigner(config), NodeDigest.layer, NodeEntropy.layer]),
            Layer.provide(Layer.succeed(LogHome, logHome(baseUrlOf(config)))),
            Layer.provide(database(config))
          )
        )
      )

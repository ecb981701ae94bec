/**
 * `fsck`: checks the transparency log against the receipts, and every balance against the transfers. Exit code 1 if
 * anything differs.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer, Schema } from "effect"
import * as NodeDigest from "../adapters/crypto/NodeDigest.ts"
import * as NodeEntropy from "../adapters/crypto/NodeEntropy.ts"
import * as NodeReceiptSigner from "../adapters/crypto/NodeReceiptSigner.ts"
import * as PostgresLogStore from "../adapters/sql/log/PostgresLogStore.ts"
import * as PostgresReceiptStore from "../adapters/sql/receipts/PostgresReceiptStore.ts"
import { LogCheck } from "../domain/log/LogCheck.ts"
import { Receipts } from "../domain/receipts/Receipts.ts"
import type { AppConfig } from "./config/AppConfig.ts"
import { audit } from "./Audit.ts"
import { database } from "./layers/Database.ts"
import { logSigner, signingSecrets } from "./layers/Secrets.ts"

export class LogInconsistent extends Schema.TaggedError<LogInconsistent>()("LogInconsistent", {
  findings: Schema.String
}) {
  override get message() {
    return `The log does not match the receipts:\n${this.findings}`
  }
}

export const fsck = (config: AppConfig) =>
  config.profile === "memory"
    ? Console.log("The memory profile has no stored log.")
    : Effect.gen(function* () {
        const { findings, logs, receipts, waiting } = yield* (yield* LogCheck).check
        if (findings.length > 0) {
          return yield* new LogInconsistent({ findings: findings.map((finding) => `  ${finding}`).join("\n") })
        }
        yield* Console.log(`The log is consistent: ${receipts} receipts in ${logs} logs, ${waiting} waiting.`)
      }).pipe(
        Effect.provide(
          LogCheck.layer.pipe(
            Layer.provide(Receipts.layer),
            Layer.provide([
              PostgresLogStore.layer,
              PostgresReceiptStore.layer,
              logSigner(config),
              receiptSigner(config),
              NodeDigest.layer
            ]),
            Layer.provide(database(config))
          )
        ),
        Effect.andThen(audit(config))
      )

const receiptSigner = (config: AppConfig) =>
  Layer.unwrap(Effect.map(signingSecrets(config), NodeReceiptSigner.layer)).pipe(
    Layer.provide(NodeEntropy.layer),
    Layer.provide(NodeServices.layer)
  )

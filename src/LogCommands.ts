/**
 * `fsck` checks the transparency log against the receipts, and `begin-log` starts a new log after the database lost a part of
 * the old one, with a signed statement about it.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer } from "effect"
import * as NodeDigest from "../adapters/crypto/NodeDigest.ts"
import * as NodeEntropy from "../adapters/crypto/NodeEntropy.ts"
import * as NodeReceiptSigner from "../adapters/crypto/NodeReceiptSigner.ts"
import * as PostgresLogStore from "../adapters/sql/log/PostgresLogStore.ts"
import * as PostgresReceiptStore from "../adapters/sql/receipts/PostgresReceiptStore.ts"
import { archivedFiles, archiveFaults } from "../adapters/sql/receipts/ReceiptArchive.ts"
import { storeSql } from "../adapters/sql/shared/StoreSql.ts"
import { LogCheck } from "../domain/log/LogCheck.ts"
import { LogStore } from "../domain/log/LogStore.ts"
import { LogSuccession } from "../domain/log/LogSuccession.ts"
import { LogHome } from "../domain/log/Sequencer.ts"
import { Receipts } from "../domain/receipts/Receipts.ts"
import { type AppConfig, baseUrlOf } from "./config/AppConfig.ts"
import { audit } from "./LedgerCommands.ts"
import { database } from "./layers/Database.ts"
import { logHome, logSigner, signingSecrets } from "./layers/Secrets.ts"
import { failed } from "./user/CommandFailure.ts"

const NO_LOG = Console.log("The memory profile has no stored log.")

const store = (config: AppConfig) =>
  Layer.mergeAll(PostgresLogStore.layer, logSigner(config), NodeDigest.layer, NodeEntropy.layer).pipe(
    Layer.provideMerge(database(config))
  )

/** A scan of all receipts begins with those in files. */
const withArchives = (folder: string | undefined) =>
  Layer.effect(
    LogStore,
    Effect.gen(function* () {
      const stored = yield* LogStore
      const files = folder === undefined ? [] : yield* archivedFiles(yield* storeSql, folder)
      let next = 0
      return LogStore.of({
        ...stored,
        scan: (after, limit) => {
          const file = files[next++]
          if (file === undefined) return stored.scan(next === files.length + 1 ? undefined : after, limit)
          return Effect.map(Effect.orDie(file), (lines) =>
            lines.map((line) => ({
              receipt: PostgresReceiptStore.receiptOfLine(line),
              place: { log: Number(line["log"]), index: Number(line["leaf"]) }
            }))
          )
        }
      })
    })
  )

/** Ends with the audit of the ledger. */
export const fsck = (config: AppConfig) =>
  config.profile === "memory"
    ? NO_LOG
    : Effect.gen(function* () {
        const sql = yield* storeSql
        const faults = yield* archiveFaults(sql, config.ARCHIVE_DIR)
        if (faults.length > 0)
          return yield* failed("failed", ["The archives are inconsistent:", ...faults].join("\n  "))
        const { findings, logs, receipts, waiting } = yield* (yield* LogCheck).check
        if (findings.length > 0) {
          return yield* failed("failed", ["The log does not match the receipts:", ...findings].join("\n  "))
        }
        yield* Console.log(`The log is consistent: ${receipts} receipts in ${logs} logs, ${waiting} waiting.`)
      }).pipe(
        Effect.provide(
          LogCheck.layer.pipe(
            Layer.provide(Receipts.layer),
            Layer.provide([PostgresReceiptStore.layer, receiptSigner(config)]),
            Layer.provide(withArchives(config.ARCHIVE_DIR)),
            Layer.provideMerge(store(config))
          )
        ),
        Effect.andThen(audit(config))
      )

const receiptSigner = (config: AppConfig) =>
  Layer.unwrap(Effect.map(signingSecrets(config), NodeReceiptSigner.layer)).pipe(
    Layer.provide(NodeEntropy.layer),
    Layer.provide(NodeServices.layer)
  )

export const beginLog = (config: AppConfig) =>
  config.profile === "memory"
    ? NO_LOG
    : Effect.gen(function* () {
        const { origin, statement } = yield* (yield* LogSuccession).begin
        yield* Console.log(`Started the log ${origin}. Publish its statement:\n\n${statement}`)
      }).pipe(
        Effect.provide(
          LogSuccession.layer.pipe(
            Layer.provide(Layer.succeed(LogHome, logHome(baseUrlOf(config)))),
            Layer.provide(store(config))
          )
        )
      )

/**
 * Reads the pages that the operator publishes, once at the start.
 */
import { Effect, FileSystem, Layer, Path } from "effect"
import {
  OPERATOR_PAGES,
  OPERATOR_TEXT_BYTES_MAX,
  type OperatorPage,
  OperatorTexts
} from "../../adapters/site/docs/OperatorPages.ts"
import { type AppConfig, ConfigInvalid } from "../config/AppConfig.ts"

/** A folder that cannot be read, or without any of the files, is a mistake in the setting. */
export const operatorTexts = ({ SITE_PAGES_DIR: folder }: AppConfig) =>
  Layer.effect(
    OperatorTexts,
    Effect.gen(function* () {
      const texts = new Map<OperatorPage, string>()
      if (folder === undefined) return texts
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const invalid = (fault: string) => new ConfigInvalid({ faults: [`SITE_PAGES_DIR=${folder}: ${fault}`] })
      for (const page of OPERATOR_PAGES) {
        const file = path.join(folder, `${page}.md`)
        if (!(yield* fs.exists(file))) continue
        const text = yield* fs.readFileString(file)
        if (Buffer.byteLength(text) > OPERATOR_TEXT_BYTES_MAX) {
          return yield* invalid(`${page}.md is longer than ${OPERATOR_TEXT_BYTES_MAX} bytes`)
        }
        texts.set(page, text)
      }
      if (texts.size === 0) return yield* invalid("it contains none of terms.md, privacy.md and fees.md")
      return texts
    }).pipe(
      Effect.catchTag("PlatformError", ({ message }) =>
        Effect.fail(new ConfigInvalid({ faults: [`SITE_PAGES_DIR=${folder}: ${message}`] }))
      )
    )
  )

/**
 * Reads the Markdown files that the documentation's pages show. They lie beside the sources in the repository, and beside
 * `dist` in the package.
 */
import { Effect, FileSystem, Layer, Path } from "effect"
import { guides } from "../../adapters/site/docs/DocsMap.ts"
import { Documents } from "../../adapters/site/docs/Documents.ts"

/** A page without its file is a defect of the package. */
export const documents = Layer.effect(
  Documents,
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = yield* docsFolder
    const found = new Map<string, string>()
    for (const { file } of guides) found.set(file, yield* fs.readFileString(path.join(folder, file)))
    return found
  })
)

const LEVELS_MAX = 5

/** The nearest `docs` above this file. */
const docsFolder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  let folder = path.dirname(yield* path.fromFileUrl(new URL(import.meta.url)))
  for (let level = 0; level < LEVELS_MAX; level++) {
    const docs = path.join(folder, "docs")
    if (yield* fs.exists(path.join(docs, guides[0]!.file))) return docs
    folder = path.dirname(folder)
  }
  return yield* Effect.die(new Error(`No folder above ${import.meta.url} contains docs/${guides[0]!.file}`))
})

/**
 * The files that pages load, read once: the browser modules without their types, and the libraries that they import; with
 * the texts of the documentation.
 */
import { Effect, FileSystem, Layer, Path } from "effect"
import { stripTypeScriptTypes } from "node:module"
import { CHANGELOG } from "../../adapters/site/changelog/ChangelogPage.ts"
import {
  guides,
  OPERATOR_PAGES,
  OPERATOR_TEXT_BYTES_MAX,
  operatorFile
} from "../../adapters/site/docs/DocsNavigation.ts"
import { Documents } from "../../adapters/site/docs/Markdown.ts"
import { type Asset, Assets } from "../../adapters/site/kit/Assets.ts"
import { SPEC } from "../../adapters/site/spec/SpecPage.ts"
import { type AppConfig, ConfigInvalid } from "../config/AppConfig.ts"
import { LIBRARIES } from "./SiteLibraries.ts"

// Reads the pages that the operator publishes, once at the start.

/** A folder that cannot be read, or without any of the files, is a mistake in the setting. */
const operatorTexts = (folder: string | undefined) =>
  Effect.gen(function* () {
    const texts = new Map<string, string>()
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
      texts.set(operatorFile(page), text)
    }
    if (texts.size === 0) return yield* invalid("it contains none of terms.md, privacy.md and fees.md")
    return texts
  }).pipe(
    Effect.catchTag("PlatformError", ({ message }) =>
      Effect.fail(new ConfigInvalid({ faults: [`SITE_PAGES_DIR=${folder}: ${message}`] }))
    )
  )

// Reads the Markdown files that pages show. They lie beside the sources in the repository, and beside
// `dist` in the package.

/** A page without its file is a defect of the package. */
const publishedDocuments = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* docsFolder
  const found = new Map<string, string>()
  for (const file of [...guides.map((guide) => guide.file), CHANGELOG, SPEC]) {
    found.set(file, yield* fs.readFileString(path.join(folder, file)))
  }
  return found
}).pipe(Effect.orDie)

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

const SCRIPT = "text/javascript; charset=utf-8"

/** Published as a script only, so it is served as a module too. */
const CHARTS = "uplot"
const CHARTS_MODULE = "library/uplot.js"

const loadedByPages = Layer.effect(
  Assets,
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = yield* path.fromFileUrl(new URL("../../adapters/site/", import.meta.url))
    const textOf = (url: URL) => Effect.flatMap(path.fromFileUrl(url), (file) => fs.readFileString(file))
    const published = (name: string) => textOf(new URL(import.meta.resolve(name)))
    const found = new Map<string, Asset>()
    for (const file of (yield* fs.readDirectory(folder, { recursive: true })).toSorted()) {
      const parts = /^((?:\w+\/)+\w+)\.browser\.(ts|js)$/u.exec(file)
      if (parts === null) continue
      const source = yield* fs.readFileString(path.join(folder, file))
      const name = `${parts[1]}.js`
      found.set(name, parts[2] === "ts" ? typed(servedModule(name, source)) : verbatim(servedModule(name, source)))
    }
    // The packed service has copies.
    const isPacked = !import.meta.url.endsWith(".ts")
    for (const [specifier, name] of LIBRARIES) {
      const source = yield* isPacked ? textOf(new URL(`../../${name}`, import.meta.url)) : published(specifier)
      found.set(name, verbatim(servedModule(name, withoutMap(source))))
    }
    const charts = yield* published("uplot/dist/uPlot.iife.min.js")
    found.set(CHARTS_MODULE, verbatim(`${charts}\nexport default uPlot\n`))
    found.set("uPlot.css", verbatim(yield* published("uplot/dist/uPlot.min.css"), "text/css; charset=utf-8"))
    return found
  })
)

export const assets = ({ SITE_PAGES_DIR: folder }: AppConfig) =>
  Layer.merge(
    Layer.orDie(loadedByPages),
    Layer.effect(
      Documents,
      Effect.map(
        Effect.all([publishedDocuments, operatorTexts(folder)]),
        ([published, own]) => new Map([...published, ...own])
      )
    )
  )

const verbatim = (source: string, contentType = SCRIPT): Asset => ({ contentType, source, text: () => source })

const typed = (source: string): Asset => {
  let text: string | undefined
  return { contentType: SCRIPT, source, text: () => (text ??= withoutTypes(source)) }
}

/** Node warns that this function may change; the warning would confuse users. */
const withoutTypes = (source: string): string => {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}

/** Browsers' developer tools would request it. */
const withoutMap = (source: string): string => source.replace(/\n?\/\/# sourceMappingURL=\S+\s*$/u, "\n")

const IMPORTED = /(\bfrom\s*|\bimport\()"([^"\n]+)"/gu

/**
 * Browsers resolve relative imports only: those of libraries become relative. Modules are served without the `.browser` of
 * their file names.
 */
const servedModule = (name: string, source: string): string =>
  source.replaceAll(IMPORTED, (whole, before: string, specifier: string) => {
    if (specifier.startsWith(".")) {
      return `${before}"${specifier.replace(/\.browser\.(?:ts|js)$/u, ".js")}"`
    }
    const library = specifier === CHARTS ? CHARTS_MODULE : LIBRARIES.get(specifier)
    return library === undefined ? whole : `${before}"${"../".repeat(name.split("/").length - 1)}${library}"`
  })

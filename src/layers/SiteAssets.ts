/**
 * The files that pages load, read once: the browser modules without their types, and the chart library.
 */
import { Effect, FileSystem, Layer, Path } from "effect"
import { stripTypeScriptTypes } from "node:module"
import { type Asset, Assets } from "../../adapters/site/kit/Assets.ts"

export const assets = Layer.effect(
  Assets,
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = yield* path.fromFileUrl(new URL("../../adapters/site/", import.meta.url))
    const found = new Map<string, Asset>()
    for (const file of (yield* fs.readDirectory(folder, { recursive: true })).toSorted()) {
      const parts = /^(\w+\/\w+)\.browser\.(ts|js)$/u.exec(file)
      if (parts === null) continue
      const source = yield* fs.readFileString(path.join(folder, file))
      const text = importingScripts(parts[2] === "ts" ? withoutTypes(source) : source)
      found.set(`${parts[1]}.js`, { contentType: "text/javascript; charset=utf-8", text })
    }
    for (const [name, file, contentType] of CHARTS) {
      const text = yield* fs.readFileString(yield* path.fromFileUrl(new URL(import.meta.resolve(`uplot/dist/${file}`))))
      found.set(name, { contentType, text })
    }
    return found
  })
)

const CHARTS = [
  ["uPlot.js", "uPlot.iife.min.js", "text/javascript; charset=utf-8"],
  ["uPlot.css", "uPlot.min.css", "text/css; charset=utf-8"]
] as const

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

/** Modules are served without the `.browser` of their file names. */
const importingScripts = (source: string): string =>
  source.replaceAll(/(from "\.{1,2}\/[\w/]+)\.browser\.(?:ts|js)"/gu, '$1.js"')

/**
 * The files that pages load, by name, and the modules that each module imports. Without assets pages are plain HTML.
 */
import { Context } from "effect"

export interface Asset {
  readonly contentType: string
  readonly text: string
}

export const Assets = Context.Reference<ReadonlyMap<string, Asset>>("agent-tool-billing/adapters/site/Assets", {
  defaultValue: () => new Map()
})

const IMPORT = /from "(\.{1,2}\/[\w/.]+\.js)"/gu

/** Direct and indirect imports. Pages preload them to avoid a round trip per level. */
export const importsOf = (assets: ReadonlyMap<string, Asset>, module: string): ReadonlyArray<string> => {
  const found = new Set([module])
  for (const name of found) {
    for (const [, imported] of (assets.get(name)?.text ?? "").matchAll(IMPORT)) found.add(pathFrom(name, imported!))
  }
  return [...found].slice(1)
}

const pathFrom = (module: string, imported: string): string => new URL(imported, `module:/${module}`).pathname.slice(1)

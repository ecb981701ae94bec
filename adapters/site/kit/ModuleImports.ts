/**
 * The modules that a browser module imports, directly and indirectly. Pages preload them to avoid a round trip per level.
 */
import type { Asset } from "./Assets.ts"

const IMPORT = /from "(\.{1,2}\/[\w/.]+\.js)"/gu

export const importsOf = (assets: ReadonlyMap<string, Asset>, module: string): ReadonlyArray<string> => {
  const found = new Set([module])
  for (const name of found) {
    for (const [, imported] of (assets.get(name)?.text ?? "").matchAll(IMPORT)) found.add(pathFrom(name, imported!))
  }
  return [...found].slice(1)
}

const pathFrom = (module: string, imported: string): string => new URL(imported, `module:/${module}`).pathname.slice(1)

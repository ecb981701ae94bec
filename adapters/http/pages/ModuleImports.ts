/**
 * What a browser's module imports, and what that imports in turn: a page names all of it at once, so that a browser far away
 * need not find it out step by step.
 */
import type { Asset } from "../Assets.ts"

const IMPORT = /from "\.\/(\w+\.js)"/gu

/** Without the module itself; in the order in which they are found. */
export const importsOf = (assets: ReadonlyMap<string, Asset>, module: string): ReadonlyArray<string> => {
  const found = new Set([module])
  for (const name of found) {
    for (const [, imported] of (assets.get(name)?.text ?? "").matchAll(IMPORT)) found.add(imported!)
  }
  return [...found].slice(1)
}

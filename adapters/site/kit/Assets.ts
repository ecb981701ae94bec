/**
 * The files that pages load, under `/assets/<version>/`: the version changes with the content, so they are cached forever.
 */
import { Context, Effect } from "effect"
import { createHash } from "node:crypto"
import { uncached } from "../../http/contract/Endpoint.ts"
import { documentRoute } from "../../http/pipeline/Route.ts"

export interface Asset {
  readonly contentType: string
  /** The text of the file, perhaps with types. The version and the imports are read from it. */
  readonly source: string
  /** Is served. Removing types takes time, so it is done for the first request. */
  readonly text: () => string
}

export class Assets extends Context.Service<Assets, ReadonlyMap<string, Asset>>()(
  "agent-tool-billing/adapters/site/Assets"
) {}

/** Imports of types do not match: browsers do not load them. */
const IMPORT = /(?<!\b(?:import|export)\s+type\b[^"]*)\bfrom\s*"(\.{1,2}\/[\w/.]+\.js)"/gu

/** Direct and indirect imports. Pages preload them to avoid a round trip per level. */
export const importsOf = (assets: ReadonlyMap<string, Asset>, module: string): ReadonlyArray<string> => {
  const found = new Set([module])
  for (const name of found) {
    for (const [, imported] of (assets.get(name)?.source ?? "").matchAll(IMPORT)) found.add(pathFrom(name, imported!))
  }
  return [...found].slice(1)
}

const pathFrom = (module: string, imported: string): string => new URL(imported, `module:/${module}`).pathname.slice(1)

/** One version for all: modules import each other by relative path. */
export const assetsVersion = Effect.map(Assets, (assets) => {
  const digest = createHash("sha256")
  for (const [name, { source }] of assets) digest.update(`${name}\n${source}\n`)
  return digest.digest("hex").slice(0, 16)
})

/** Left out of the endpoint index. */
const UNLISTED = ""

export const assetRoutes = Effect.gen(function* () {
  const version = yield* assetsVersion
  return [...(yield* Assets)].map(([name, { contentType, text }]) =>
    documentRoute(
      `/assets/${version}/${name}`,
      uncached,
      Effect.sync(() => ({
        status: 200,
        headers: { "content-type": contentType, "cache-control": "public, max-age=31536000, immutable" },
        body: text()
      })),
      UNLISTED
    )
  )
})

/**
 * Assets under `/assets/<version>/`. The version changes with the content, so assets are cached forever.
 */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { Assets } from "./Assets.ts"
import { uncached } from "../../http/api/Access.ts"
import { documentRoute } from "../../http/pipeline/Route.ts"

/** One version for all: modules import each other by relative path. */
export const assetsVersion = Effect.map(Assets, (assets) => {
  const digest = createHash("sha256")
  for (const [name, { text }] of assets) digest.update(`${name}\n${text}\n`)
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
      Effect.succeed({
        status: 200,
        headers: { "content-type": contentType, "cache-control": "public, max-age=31536000, immutable" },
        body: text
      }),
      UNLISTED
    )
  )
})

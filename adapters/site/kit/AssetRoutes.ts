/**
 * Assets under `/assets/`, each at an address that changes with its content: what is there never changes.
 */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { Assets } from "./Assets.ts"
import { uncached } from "../../http/api/Access.ts"
import { documentRoute } from "../../http/pipeline/Route.ts"

/** Of all of them together: they import each other by name. */
export const assetsVersion = Effect.map(Assets, (assets) => {
  const digest = createHash("sha256")
  for (const [name, { text }] of assets) digest.update(`${name}\n${text}\n`)
  return digest.digest("hex").slice(0, 16)
})

/** Named in no index. */
const PART_OF_A_PAGE = ""

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
      PART_OF_A_PAGE
    )
  )
})

/**
 * Search in the catalog, compared with the rule of the domain for random texts and queries.
 */
import { assert, it } from "@effect/vitest"
import { Effect, type Layer, Schema } from "effect"
import { CatalogStore } from "../../domain/catalog/CatalogStore.ts"
import { matches, tokensOfQuery, tokensOfTool } from "../../domain/catalog/SearchTokens.ts"
import { LIVE } from "../support/servers/PostgresTest.ts"
import type { Ports } from "./ports.ts"
import { aDeclaration, aProvider, aTool, upserted } from "./samples.ts"

export const catalogSearchModel = (name: string, ports: Layer.Layer<Ports>) =>
  it.layer(ports, LIVE)(`CatalogStore's search over ${name}`, (it) => {
    const word = Schema.String.check(Schema.isPattern(/^[ab\u00E9\u00DF\u{1F600}9 ]{0,6}$/u))
    it.effect.prop(
      "finds what SearchTokens finds",
      { texts: Schema.Array(word).check(Schema.isMaxLength(4)), query: word },
      ({ query, texts }) =>
        Effect.gen(function* () {
          const store = yield* CatalogStore
          const provider = yield* aProvider({ name: "p" })
          const expected = []
          for (const [n, description] of texts.entries()) {
            const declaration = aDeclaration({ toolName: `t${n}`, displayName: "", category: "", description })
            const searchTokens = tokensOfTool(declaration, provider.name)
            yield* upserted(yield* aTool(provider, declaration, { searchTokens }))
            if (matches(searchTokens, tokensOfQuery(query))) expected.push(declaration.toolName)
          }
          const filter = {
            category: undefined,
            providerId: provider.id,
            maxPrice: undefined,
            tokens: tokensOfQuery(query)
          }
          const page = { limit: 10, offset: 0, after: undefined }
          const { items, total } = yield* store.search(filter, "name", page)
          assert.deepStrictEqual(
            items.map(({ tool }) => tool.toolName),
            expected
          )
          assert.strictEqual(total, expected.length)
        }),
      { arbitrary: { runs: 60 } }
    )
  })

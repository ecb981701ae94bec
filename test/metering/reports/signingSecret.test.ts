/**
 * A provider reads its own signing secret, by which it recognizes requests of this service.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { createHash, createHmac } from "node:crypto"
import { isSignedByMarket } from "../../support/mcp/ProviderCheck.ts"
import { at, expecting, textAt } from "../../support/market/Market.ts"
import { fine, providing } from "../../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, memoryMarket, PROXY } from "../../support/metering/Shop.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"

const PATH = "/api/v1/market/providers/signing-secret"

describe("the signing secret", () => {
  it.layer(memoryMarket(), LIVE)("of a provider", (it) => {
    it.effect("signs the provider's requests, and no other provider's", () =>
      Effect.gen(function* () {
        const server = yield* providing(fine)
        const offer = yield* anOffer(server.url)
        const another = yield* anOffer((yield* providing(fine)).url, { tool_name: "other" })
        const buyer = yield* aFundedConsumer()
        yield* expecting(200, { path: PROXY, key: buyer.key, json: { tool_id: offer.toolId, input: { a: "ü" } } })
        const [seen] = server.of("tools/call")

        const answer = yield* expecting(200, { path: PATH, key: offer.provider.key })
        const secret = textAt(answer, "secret")
        assert.strictEqual(at(answer, "provider_id"), offer.provider.id)
        assert.isTrue(isSignedByMarket(Redacted.make(secret), seen!.headers, seen!.text))
        const others = textAt(yield* expecting(200, { path: PATH, key: another.provider.key }), "secret")
        assert.notStrictEqual(others, secret)
        assert.isFalse(isSignedByMarket(Redacted.make(others), seen!.headers, seen!.text))

        // Verified as the response describes it, as a provider would write it.
        const values = Object.fromEntries(
          ["timestamp", "consumer", "tool", "invocation"].map((name) => [name, seen!.headers[`x-market-${name}`]])
        )
        const filled = textAt(answer, "signed_text")
          .replace("<body>", createHash("sha256").update(seen!.text).digest("hex"))
          .replaceAll(/<(\w+)>/gu, (_whole, name: string) => String(values[name]))
        const signature = createHmac("sha256", secret).update(filled).digest("hex")
        assert.strictEqual(signature, seen!.headers["x-market-signature"])
      })
    )

    it.effect("is shown to the provider's own key only, and is in no log", () =>
      Effect.gen(function* () {
        const { provider } = yield* anOffer((yield* providing(fine)).url)
        const answer = yield* expecting(200, { path: PATH, key: provider.key })
        assert.strictEqual(answer.headers["cache-control"], "private, no-cache")
        assert.notInclude(answer.log, textAt(answer, "secret"))
        assert.strictEqual((yield* send({ path: PATH })).status, 401)
        assert.strictEqual((yield* send({ path: PATH, key: (yield* aFundedConsumer(0)).key })).status, 403)
      })
    )
  })
})

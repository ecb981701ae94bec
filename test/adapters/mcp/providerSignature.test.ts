/**
 * The provider can verify that a call came through the service, for which consumer, and that it is unchanged; the
 * caller's own credentials never reach it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { createHash, createHmac } from "node:crypto"
import { hmacOf } from "../../../adapters/crypto/Hmac.ts"
import { derivedSecrets } from "../../../adapters/mcp/client/ProviderSignature.ts"
import { headerText } from "../../../adapters/mcp/client/ProviderSignature.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { json, result, scriptedServer, type Seen, text } from "../../../testing/mcp/ScriptedServer.ts"
import { makeUpstream, SIGNING_SECRET } from "../../support/mcp/McpClient.ts"
import { isSignedByMarket } from "../../support/mcp/ProviderCheck.ts"
import { upstreamCall } from "../../support/mcp/UpstreamCalls.ts"

const secret = Redacted.make(SIGNING_SECRET)

const serve = (era: "modern" | "stateful") =>
  scriptedServer({ era, onCall: (seen, response) => json(response, result(seen, text("ok"))) })

/** The signature, as a provider would compute it from the documentation alone. */
const byTheBook = ({ headers, text: body }: Seen): string =>
  createHmac("sha256", SIGNING_SECRET)
    .update(
      [
        "market-v1",
        headers["x-market-timestamp"],
        headers["x-market-consumer"],
        headers["x-market-tool"],
        headers["x-market-invocation"],
        createHash("sha256").update(body).digest("hex")
      ].join("\n")
    )
    .digest("hex")

describe("the signed headers", () => {
  it.live("name the consumer, the tool and the invocation, and are signed with the body", () =>
    Effect.gen(function* () {
      const server = yield* serve("modern")
      const upstream = yield* makeUpstream()
      const call = upstreamCall(server.url, { arguments: { text: "Grüße" } })
      yield* upstream.call(call)
      const [seen] = server.of("tools/call")
      assert.isDefined(seen)
      assert.strictEqual(seen.headers["x-market-consumer"], call.consumerId)
      assert.strictEqual(seen.headers["x-market-tool"], call.toolName)
      assert.strictEqual(seen.headers["x-market-invocation"], call.invocationId)
      assert.match(String(seen.headers["x-market-timestamp"]), /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/u)
      assert.strictEqual(seen.headers["x-market-signature"], byTheBook(seen))
      assert.isTrue(isSignedByMarket(secret, seen.headers, seen.text))
    })
  )

  it.live("are on every request, the handshake included, and contain no credentials", () =>
    Effect.gen(function* () {
      for (const server of [yield* serve("modern"), yield* serve("stateful")]) {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const upstream = yield* makeUpstream()
            yield* upstream.call(upstreamCall(server.url))
          })
        )
        for (const seen of server.seen) {
          assert.isTrue(isSignedByMarket(secret, seen.headers, seen.text), `${seen.http} ${seen.method}`)
          assert.isUndefined(seen.headers.authorization)
          assert.isUndefined(seen.headers.cookie)
        }
      }
    })
  )

  it.live("are valid for any tool name, and encode it exactly", () =>
    Effect.gen(function* () {
      const server = yield* serve("modern")
      const upstream = yield* makeUpstream()
      for (const toolName of ["Wetter für 東京", "a\r\nX-Injected: yes", " padded ", "=?base64?QQ==?=", "", "\uD800"]) {
        const answer = yield* upstream.call(upstreamCall(server.url, { toolName }))
        assert.strictEqual(answer.status, "success", JSON.stringify(toolName))
        const seen = server.of("tools/call").at(-1)
        assert.isUndefined(seen?.headers["x-injected"])
        assert.strictEqual(seen?.headers["mcp-name"], seen?.headers["x-market-tool"])
        assert.isTrue(isSignedByMarket(secret, seen?.headers ?? {}, seen?.text ?? ""))
        const name = String(seen?.headers["mcp-name"])
        const decoded = name.startsWith("=?base64?") ? Buffer.from(name.slice(9, -2), "base64").toString() : name
        assert.strictEqual(decoded, toolName.toWellFormed())
      }
    })
  )

  it("do not match after any change of what they sign", () => {
    const headers = {
      "x-market-consumer": "c",
      "x-market-tool": "t",
      "x-market-invocation": "i",
      "x-market-timestamp": "2026-11-20T00:00:00.000Z"
    }
    const signature = createHmac("sha256", SIGNING_SECRET)
      .update(`market-v1\n2026-11-20T00:00:00.000Z\nc\nt\ni\n${createHash("sha256").update("body").digest("hex")}`)
      .digest("hex")
    const signed = { ...headers, "x-market-signature": signature }
    assert.isTrue(isSignedByMarket(secret, signed, "body"))
    assert.isFalse(isSignedByMarket(secret, signed, "body "))
    assert.isFalse(isSignedByMarket(Redacted.make("another"), signed, "body"))
    assert.isFalse(isSignedByMarket(secret, headers, "body"))
    for (const name of Object.keys(headers)) {
      assert.isFalse(isSignedByMarket(secret, { ...signed, [name]: "other" }, "body"), name)
    }
  })
})

describe("the secrets", () => {
  const one = ProviderId.make("a0000000-0000-4000-8000-000000000001")
  const two = ProviderId.make("a0000000-0000-4000-8000-000000000002")

  it("differ by provider and by master secret, and are deterministic", () => {
    const secretOf = derivedSecrets(Redacted.make("master"))
    assert.match(Redacted.value(secretOf(one)), /^[0-9a-f]{64}$/u)
    assert.strictEqual(Redacted.value(secretOf(one)), Redacted.value(secretOf(one)))
    assert.notStrictEqual(Redacted.value(secretOf(one)), Redacted.value(secretOf(two)))
    assert.notStrictEqual(Redacted.value(secretOf(one)), Redacted.value(derivedSecrets(Redacted.make("another"))(one)))
  })

  it("HMAC equals node:crypto's for keys and texts of every length", () => {
    for (const keyBytes of [0, 1, 32, 63, 64, 65, 200]) {
      const raw = Buffer.alloc(keyBytes, "k")
      const sign = hmacOf(raw)
      for (const textBytes of [0, 1, 55, 64, 300, 1_023, 1_024, 1_025, 5_000]) {
        const message = "m".repeat(textBytes)
        assert.strictEqual(sign(message), createHmac("sha256", raw).update(message).digest("hex"))
      }
    }
  })

  it("header text is unchanged where it can be", () => {
    for (const plain of ["echo", "a b", "x=1;y", ""]) assert.strictEqual(headerText(plain), plain)
    for (const other of [" a", "a ", "a\tb", "é", "=?base64?x?="])
      assert.match(headerText(other), /^=\?base64\?.*\?=$/u)
  })
})

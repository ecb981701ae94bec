/**
 * Handles: their form, reserved words, similarity, derivation from a name, and who may have one.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import {
  isHandle,
  isReserved,
  qualifiedName,
  skeletonOf,
  slugOf,
  splitQualified,
  suffixed
} from "../../../domain/accounts/Handle.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { Handles } from "../../../domain/providers/Handles.ts"
import { type ProviderApplication, Registration } from "../../../domain/providers/Registration.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { zero } from "../../../domain/shared/Microcents.ts"
import { verify } from "../../../testing/contracts/providers/HandleStoreContract.ts"
import { everyStore, memoryPorts, withServices } from "../../contracts/ports.ts"
import { aDeclaration } from "../../contracts/samples.ts"

const ID = "0193f9c2-7d5e-7a7b-9d3e-2f1a6b7c8d9e"

describe("a handle", () => {
  it("has 3 to 32 lowercase letters and digits, with single dashes between them", () => {
    for (const good of ["abc", "a1b", "ada-tools", "a-b-c", "123", "x".repeat(32)]) assert.isTrue(isHandle(good), good)
    for (const bad of [
      "",
      "ab",
      "x".repeat(33),
      "-abc",
      "abc-",
      "a--b",
      "Abc",
      "a_b",
      "a.b",
      "a/b",
      "äbc",
      "abc\n",
      "xn--a"
    ]) {
      assert.isFalse(isHandle(bad), bad)
    }
  })

  it("is similar to another one by digits, separators, doubled and joined letters", () => {
    for (const [one, other] of [
      ["paypal", "paypa1"],
      ["paypal", "pay-pal"],
      ["google", "g00gle"],
      ["google", "gogle"],
      ["mistral", "mi5tra1"],
      ["modern", "modem"],
      ["wave", "vvave"],
      ["stripe", "str1p3"],
      ["stripe", "strlpe"]
    ] as const) {
      assert.strictEqual(skeletonOf(one), skeletonOf(other), `${one} ${other}`)
    }
    for (const [one, other] of [
      ["paypal", "payroll"],
      ["ada-tools", "ada-tool"],
      ["stripe", "stripes"]
    ] as const) {
      assert.notStrictEqual(skeletonOf(one), skeletonOf(other), `${one} ${other}`)
    }
  })

  it("is not a reserved word, in any spelling", () => {
    for (const word of ["admin", "adm1n", "ad-min", "api", "supp0rt", "operator", "docs", "www", "erased-0a1b"]) {
      assert.isTrue(isReserved(word), word)
    }
    for (const word of ["ada-tools", "weather-works", "administrations"]) assert.isFalse(isReserved(word), word)
  })

  it("is derived from a name, where that gives a valid one", () => {
    assert.strictEqual(slugOf("Ada Tools"), "ada-tools")
    assert.strictEqual(slugOf("  Ada's  Tools, Inc. "), "ada-s-tools-inc")
    assert.strictEqual(slugOf("Café Zürich"), "cafe-zurich")
    assert.strictEqual(slugOf("AI"), undefined)
    assert.strictEqual(slugOf("天気"), undefined)
    const long = slugOf(`${"x".repeat(31)} and more`)!
    assert.strictEqual(long, "x".repeat(31))
    for (const digits of [6, 12, 20]) {
      const handle = suffixed(long, ID, digits)
      assert.isTrue(isHandle(handle), handle)
      assert.isTrue(handle.endsWith(`-${ID.replaceAll("-", "").slice(-digits)}`))
    }
  })

  it("starts a qualified name; the rest is the tool's own name, slashes included", () => {
    assert.strictEqual(qualifiedName("ada-tools", "maps/route"), "ada-tools/maps/route")
    assert.deepStrictEqual(splitQualified("ada-tools/maps/route"), { handle: "ada-tools", toolName: "maps/route" })
    for (const bare of ["echo", "a/b", "Ada/echo", "/echo", "ada-tools/", "a_b_c/echo"]) {
      assert.isUndefined(splitQualified(bare), bare)
    }
  })
})

const application = (name: string, handle?: string): ProviderApplication => ({
  name,
  handle,
  email: "owner@example.com",
  endpointUrl: "https://example.com/mcp",
  description: "",
  pricingModel: "per_call",
  defaultPrice: zero,
  tools: [aDeclaration({ toolName: "echo" })]
})

const joined = (name: string, handle?: string) =>
  Effect.flatMap(Registration, (registration) => registration.provider(application(name, handle), undefined))

it.layer(withServices(memoryPorts), { timeout: "60 seconds" })("Handles", (it) => {
  const found = (handle: string) =>
    Effect.flatMap(Catalog, (catalog) =>
      Effect.map(catalog.findQualified(handle, "echo"), (entry) => Option.getOrUndefined(entry)?.provider)
    )

  it.effect("are as requested, or derived and made unique", () =>
    Effect.gen(function* () {
      const asked = yield* joined("Any Name", "asked-for")
      assert.strictEqual(asked.provider.handle, "asked-for")
      assert.strictEqual((yield* found("asked-for"))?.id, asked.provider.id)
      const [first, second] = [yield* joined("Unique Works"), yield* joined("Unique Works")]
      assert.strictEqual(first.provider.handle, "unique-works")
      assert.strictEqual(second.provider.handle, suffixed("unique-works", second.provider.id, 6))
      const { provider } = yield* joined("!!")
      assert.strictEqual(provider.handle, suffixed("provider", provider.id, 6))
      assert.match((yield* joined("Support")).provider.handle, /^provider-[0-9a-f]{6}$/u)
    })
  )

  it.effect("leave no account behind where they are taken or reserved", () =>
    Effect.gen(function* () {
      yield* joined("First", "only-once")
      const before = (yield* (yield* AccountStore).counts).providers
      assert.strictEqual((yield* Effect.flip(joined("Second", "only-once")))._tag, "HandleTaken")
      assert.strictEqual((yield* Effect.flip(joined("Third", "0perator")))._tag, "HandleRejected")
      assert.strictEqual((yield* (yield* AccountStore).counts).providers, before)
    })
  )

  it.effect("are reassigned: the previous one resolves to the same provider, unless it is retired", () =>
    Effect.gen(function* () {
      const handles = yield* Handles
      const { provider } = yield* joined("Moving", "moving-one")
      const reassigned = (handle: string, retirePrevious = false) =>
        handles.reassign({ providerId: provider.id, handle, retirePrevious })
      assert.deepStrictEqual(yield* reassigned("moving-two"), { handle: "moving-two", previous: "moving-one" })
      for (const handle of ["moving-one", "moving-two"]) {
        assert.strictEqual((yield* found(handle))?.handle, "moving-two")
      }
      yield* reassigned("moving-three", true)
      assert.isUndefined(yield* found("moving-two"))
      assert.strictEqual((yield* found("moving-one"))?.id, provider.id)
      for (const handle of ["moving-one", "moving-two"]) {
        assert.strictEqual((yield* Effect.flip(joined("Another", handle)))._tag, "HandleTaken")
      }
      yield* reassigned("moving-two")
      assert.strictEqual((yield* found("moving-two"))?.handle, "moving-two")

      const other = (yield* joined("Other", "verified-other")).provider
      yield* verify(other.id)
      for (const [handle, tag] of [
        ["verified-other", "HandleTaken"],
        ["ver1f1ed-other", "HandleRejected"],
        ["support", "HandleRejected"]
      ] as const) {
        assert.strictEqual((yield* Effect.flip(reassigned(handle)))._tag, tag)
      }
      const unknown = handles.reassign({ providerId: ProviderId.make(ID), handle: "nobody-s", retirePrevious: false })
      assert.strictEqual((yield* Effect.flip(unknown))._tag, "ProviderUnknown")
    })
  )

  it.effect("that imitate a provider verified later are listed", () =>
    Effect.gen(function* () {
      const imitator = (yield* joined("Early", "late1y")).provider
      const original = (yield* joined("Late", "lately")).provider
      yield* verify(original.id)
      const listed = (yield* (yield* Handles).imitations).filter((one) => one.providerId === imitator.id)
      assert.deepStrictEqual(listed, [
        { handle: "late1y", providerId: imitator.id, imitates: "lately", imitatedProviderId: original.id }
      ])
    })
  )
})

for (const [store, ports] of everyStore) {
  it.layer(withServices(ports), { timeout: "60 seconds" })(`Handles over ${store}`, (it) => {
    it.effect("go to one of many concurrent requests for the same", () =>
      Effect.gen(function* () {
        const racers = Effect.forEach(Array.from({ length: 10 }), () => Effect.result(joined("Racer", "race-to-it")), {
          concurrency: "unbounded"
        })
        const results = yield* racers
        assert.lengthOf(
          results.filter(({ _tag }) => _tag === "Success"),
          1
        )
      })
    )
  })
}

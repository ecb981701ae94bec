import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as NodeDigest from "../../../adapters/crypto/NodeDigest.ts"
import * as NodeEntropy from "../../../adapters/crypto/NodeEntropy.ts"
import * as NodeSealer from "../../../adapters/crypto/NodeSealer.ts"
import { derivedSecrets } from "../../../adapters/mcp/client/ProviderSignature.ts"
import { ProviderSecrets } from "../../../domain/metering/ProviderSecrets.ts"
import { Entropy, Sealer } from "../../../domain/shared/Cryptography.ts"
import { digestContract } from "../../../testing/contracts/shared/DigestContract.ts"
import { entropyContract } from "../../../testing/contracts/shared/EntropyContract.ts"
import { providerSecretsContract } from "../../../testing/contracts/metering/ProviderSecretsContract.ts"
import { sealerContract } from "../../../testing/contracts/shared/SealerContract.ts"
import { contractOver } from "../../contracts/contractOver.ts"

const times = (count: number) => Array.from({ length: count }, (_, n) => n)
const msOf = (uuid: string): number => Number.parseInt(uuid.replace("-", "").slice(0, 12), 16)

contractOver("NodeDigest", digestContract, NodeDigest.layer)
contractOver("NodeEntropy", entropyContract, NodeEntropy.layer)
contractOver("NodeSealer", sealerContract, NodeSealer.layer([Redacted.make("secret")]))
contractOver(
  "Derived ProviderSecrets",
  providerSecretsContract,
  Layer.succeed(ProviderSecrets, { secretOf: derivedSecrets(Redacted.make("secret")) })
)

describe("NodeEntropy", () => {
  it.effect("makes ids of version 7 with the time of the Clock", () =>
    Effect.gen(function* () {
      const { uuid } = yield* Entropy
      for (const ms of [0, 1, 1_800_000_000_000]) {
        yield* TestClock.setTime(ms)
        const id = yield* uuid
        assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u)
        assert.strictEqual(msOf(id), ms)
      }
    }).pipe(Effect.provide(NodeEntropy.layer))
  )

  it.effect("makes unique ids in order, for any number in one millisecond", () =>
    Effect.gen(function* () {
      const { uuid } = yield* Entropy
      const ids = yield* Effect.forEach(times(20_000), () => uuid)
      assert.deepStrictEqual(ids.toSorted(), ids)
      assert.lengthOf(new Set(ids), ids.length)
      // More than fit one millisecond continue in the next ones.
      assert.isBelow(msOf(ids.at(-1)!), 10)
    }).pipe(Effect.provide(NodeEntropy.layer))
  )

  it.effect("keeps the order when the clock steps back a little, and follows it when it steps back far", () =>
    Effect.gen(function* () {
      const { uuid } = yield* Entropy
      yield* TestClock.setTime(1_000_000)
      const first = yield* uuid
      yield* TestClock.setTime(990_000)
      const second = yield* uuid
      assert.isAbove(second.localeCompare(first), 0)
      yield* TestClock.setTime(500_000)
      assert.strictEqual(msOf(yield* uuid), 500_000)
    }).pipe(Effect.provide(NodeEntropy.layer))
  )

  it.effect("returns the requested number of random bytes", () =>
    Effect.gen(function* () {
      const { hex } = yield* Entropy
      for (const bytes of [0, 1, 32, 4_095, 4_096, 4_097, 10_000]) {
        assert.match(yield* hex(bytes), new RegExp(`^(?:[0-9a-f]{2}){${bytes}}$`, "u"))
      }
      const drawn = yield* Effect.forEach(times(5_000), () => hex(32))
      assert.lengthOf(new Set(drawn), drawn.length)
      const ones = drawn.join("").match(/[89a-f]/gu)!.length / (drawn.length * 64)
      assert.closeTo(ones, 0.5, 0.01)
      assert.isFalse(drawn.some((one) => one.includes("0000000000000000")))
    }).pipe(Effect.provide(NodeEntropy.layer))
  )
})

describe("NodeSealer", () => {
  const sealerWith = (...secrets: readonly [string, ...Array<string>]) => {
    const [first, ...old] = secrets
    const layer = NodeSealer.layer([Redacted.make(first), ...old.map((secret) => Redacted.make(secret))])
    return Effect.provide(Sealer, Layer.fresh(layer))
  }

  it.effect.prop("opens what it sealed, in the same context", { text: Schema.String }, ({ text }) =>
    Effect.gen(function* () {
      const { open, seal } = yield* sealerWith("secret")
      const storable = text.toWellFormed()
      const sealed = seal(storable, "context")
      assert.deepStrictEqual(open(sealed, "context"), Option.some(storable))
      assert.isTrue(Option.isNone(open(sealed, "another context")))
    })
  )

  it.effect("reveals nothing of the text, and never seals the same twice", () =>
    Effect.gen(function* () {
      const { seal } = yield* sealerWith("secret")
      const sealed = seal("atb_c_0123456789", "context")
      assert.notInclude(sealed, "0123456789")
      assert.notInclude(Buffer.from(sealed.split(".")[2]!, "base64url").toString("latin1"), "0123456789")
      assert.notStrictEqual(seal("atb_c_0123456789", "context"), sealed)
    })
  )

  it.effect("rejects text that was changed, cut or forged", () =>
    Effect.gen(function* () {
      const { open, seal } = yield* sealerWith("secret")
      const sealed = seal("the text", "context")
      const [version, id, body] = sealed.split(".") as [string, string, string]
      const bytes = Buffer.from(body, "base64url")
      for (let at = 0; at < bytes.length; at++) {
        const changed = Buffer.from(bytes)
        changed[at]! ^= 1
        assert.isTrue(Option.isNone(open(`${version}.${id}.${changed.toString("base64url")}`, "context")))
        assert.isTrue(Option.isNone(open(`${version}.${id}.${bytes.subarray(0, at).toString("base64url")}`, "context")))
      }
      for (const made of ["", ".", "..", "v1..", `v2.${id}.${body}`, `v1.00000000.${body}`, `${sealed}.`, body]) {
        assert.isTrue(Option.isNone(open(made, "context")), made)
      }
    })
  )

  it.effect("seals with the first secret of the key ring and opens with all of them", () =>
    Effect.gen(function* () {
      const [before, between, after] = [
        yield* sealerWith("old"),
        yield* sealerWith("new", "old"),
        yield* sealerWith("new")
      ]
      const sealedBefore = before.seal("text", "c")
      const sealedBetween = between.seal("text", "c")
      assert.deepStrictEqual(between.open(sealedBefore, "c"), Option.some("text"))
      assert.deepStrictEqual(after.open(sealedBetween, "c"), Option.some("text"))
      assert.isTrue(Option.isNone(after.open(sealedBefore, "c")))
    })
  )
})

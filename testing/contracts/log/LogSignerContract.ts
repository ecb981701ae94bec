/**
 * What a LogSigner must do.
 */
import { Effect } from "effect"
import assert from "node:assert/strict"
import { LogSigner } from "../../../domain/log/LogStore.ts"
import { type Contract, rule } from "../shared/Contract.ts"

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

export const logSignerContract: Contract<LogSigner> = [
  rule(
    "signs the same text with the same signature, and another text with another",
    Effect.gen(function* () {
      const signer = yield* LogSigner
      const text = bytesOf("origin\n1\nroot\n")
      assert.deepEqual([signer.publicKey.length, signer.sign(text).length], [32, 64])
      assert.deepEqual(signer.sign(text), signer.sign(text))
      assert.notDeepEqual(signer.sign(text), signer.sign(bytesOf("origin\n2\nroot\n")))
    })
  ),

  rule(
    "verifies its signatures, and neither those of another text nor of another key",
    Effect.gen(function* () {
      const signer = yield* LogSigner
      const text = bytesOf("origin\n1\nroot\n")
      const signature = signer.sign(text)
      assert.equal(signer.verify(signer.publicKey, text, signature), true)
      assert.equal(signer.verify(signer.publicKey, bytesOf("other"), signature), false)
      assert.equal(signer.verify(new Uint8Array(32), text, signature), false)
      assert.equal(signer.verify(new Uint8Array(31), text, signature), false)
      assert.equal(signer.verify(signer.publicKey, text, signature.slice(1)), false)
    })
  )
]

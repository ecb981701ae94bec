/**
 * What a Digest must do.
 */
import { Effect } from "effect"
import assert from "node:assert/strict"
import { Digest } from "../../../domain/shared/Cryptography.ts"
import type { Contract } from "./Contract.ts"

export const digestContract: Contract<Digest> = [
  {
    title: "is SHA-256 of the UTF-8 bytes, in lowercase hex",
    check: Effect.map(Digest, ({ sha256, sha256Hex }) => {
      for (const [text, digest] of [
        ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
        ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
        ["é", "4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c"]
      ] as const) {
        assert.equal(sha256Hex(text), digest)
        assert.equal(Buffer.from(sha256(new TextEncoder().encode(text))).toString("hex"), digest)
      }
    })
  }
]

/**
 * What a Sealer must do.
 */
import { Effect, Option } from "effect"
import assert from "node:assert/strict"
import { Sealer } from "../../../domain/shared/Cryptography.ts"
import type { Contract } from "./Contract.ts"

const SECRET = "atb_c_0123456789"

export const sealerContract: Contract<Sealer> = [
  {
    title: "opens what it sealed, in the same context only",
    check: Effect.map(Sealer, ({ open, seal }) => {
      for (const text of ["", SECRET, "多 <b>'\"\\ 🌦\n\u0000", "x".repeat(100_000)]) {
        const sealed = seal(text, "context")
        assert.deepEqual(open(sealed, "context"), Option.some(text))
        for (const other of ["another context", "", "contex", "context "]) {
          assert.deepEqual(open(sealed, other), Option.none())
        }
      }
    })
  },
  {
    title: "reveals nothing of the text, and never seals the same twice",
    check: Effect.map(Sealer, ({ seal }) => {
      const sealed = seal(SECRET, "context")
      for (const bytes of [sealed, ...["base64url", "hex"].map((encoding) => decoded(sealed, encoding))]) {
        assert.ok(!bytes.includes("0123456789"))
      }
      assert.notEqual(seal(SECRET, "context"), sealed)
    })
  },
  {
    title: "opens nothing that was changed, cut or forged",
    check: Effect.map(Sealer, ({ open, seal }) => {
      const sealed = seal("the text", "context")
      for (let at = 0; at < sealed.length; at++) {
        assert.deepEqual(open(sealed.slice(0, at), "context"), Option.none())
        // The last digit of an encoding may have bits that mean nothing.
        if (at === sealed.length - 1) continue
        const changed = `${sealed.slice(0, at)}${sealed[at] === "A" ? "B" : "A"}${sealed.slice(at + 1)}`
        assert.deepEqual(open(changed, "context"), Option.none(), `changed at ${at}`)
      }
      for (const made of ["", ".", "..", "the text", `${sealed}.`]) {
        assert.deepEqual(open(made, "context"), Option.none(), made)
      }
    })
  }
]

const decoded = (sealed: string, encoding: string): string =>
  sealed
    .split(/[^\w-]/u)
    .map((part) => Buffer.from(part, encoding as "hex").toString("latin1"))
    .join("")

import { assert, describe, it } from "@effect/vitest"
import { hash } from "node:crypto"
import {
  checkpointText,
  ED25519,
  formatKey,
  formatNote,
  fromBase64,
  parseCheckpoint,
  parseKey,
  parseNote,
  signatureLine,
  toBase64
} from "../../domain/log/SignedNote.ts"

const sha256 = (bytes: Uint8Array): Uint8Array => hash("sha256", bytes, "buffer")

/** Public keys of other operators' logs. */
const KNOWN = [
  "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8",
  "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
]

describe("a key", () => {
  it("is written in the common format", () => {
    for (const text of KNOWN) {
      const key = parseKey(sha256, text)!
      assert.strictEqual(key.kind, ED25519)
      assert.strictEqual(formatKey(sha256, key), text)
    }
  })

  it("is rejected when any part of it is changed", () => {
    for (const text of KNOWN) {
      for (let at = 0; at < text.length; at++) {
        const changed = `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`
        assert.isUndefined(parseKey(sha256, changed), changed)
      }
    }
  })
})

describe("a note", () => {
  const root = sha256(Buffer.from("root"))
  const key = { name: "log.example/1", kind: ED25519, publicKey: root } as const
  const text = checkpointText({ origin: key.name, size: 7, root })

  it("is parsed as it was written", () => {
    const note = formatNote(text, [signatureLine(sha256, key, new Uint8Array(64).fill(7))])
    const read = parseNote(note)!
    assert.strictEqual(read.text, text)
    assert.deepStrictEqual(
      read.signatures.map(({ name, signature }) => [name, signature.length]),
      [[key.name, 64]]
    )
    assert.strictEqual(read.signatures[0]!.keyId, formatKey(sha256, key).split("+")[1])
    assert.deepStrictEqual(parseCheckpoint(read.text), { origin: key.name, size: 7, root })
  })

  it("accepts nothing else", () => {
    for (const note of [
      "",
      text,
      `${text}\n`,
      `${text}\nno line\n`,
      `${text}\n— name AAAA`,
      `${text}\n- name AAAAAAAA\n`
    ]) {
      assert.isUndefined(parseNote(note), note)
    }
    for (const body of [
      "",
      "o\n",
      "o\n1\n",
      `o\n01\n${toBase64(root)}\n`,
      `\n1\n${toBase64(root)}\n`,
      "o\n1\nAAAA\n"
    ]) {
      assert.isUndefined(parseCheckpoint(body), body)
    }
  })
})

it("base64 has one text for the same bytes", () => {
  for (const text of ["", "AA==", "AAA=", "AAAA", "+/+/"]) assert.strictEqual(toBase64(fromBase64(text)!), text)
  for (const text of ["A", "AB==", "AAB=", "AAAA=", "AA", "A A=", "-_-_", "AAAA\n"]) {
    assert.isUndefined(fromBase64(text), JSON.stringify(text))
  }
})

/**
 * `Receipts.sign` and `Receipts.verify`, with a key in the process and a remote one.
 */
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as NodeReceiptSigner from "../../adapters/crypto/NodeReceiptSigner.ts"
import { Receipt, Receipts, ReceiptSigner, SIGNER_MS_MAX } from "../../domain/receipts/Receipts.ts"
import { ConsumerId, ProviderId, ReceiptId, ToolId } from "../../domain/shared/Ids.ts"
import { Microcents } from "../../domain/shared/Microcents.ts"
import { receiptsSignedBy } from "../support/checks/ReceiptVerdict.ts"
import { remoteSigner } from "../support/market/RemoteSigner.ts"

const SECRET = "the secret of these receipts, 32 characters"

const unsigned = {
  receipt_id: ReceiptId.make(`rcpt_${"0".repeat(32)}`),
  tool_id: ToolId.make("01900000-0000-7000-8000-000000000001"),
  tool_name: "search",
  agent_id: ConsumerId.make("01900000-0000-7000-8000-000000000002"),
  provider_id: ProviderId.make("01900000-0000-7000-8000-000000000003"),
  timestamp: "2026-11-20T10:11:12.345Z",
  duration_ms: 100,
  cost_microcents: Microcents.make(BigInt(Number.MAX_SAFE_INTEGER)),
  status: "success" as const,
  created_at: "2026-11-20T10:11:12.445Z"
}

const kinds = [
  ["a key in the process", NodeReceiptSigner.layer([Redacted.make(SECRET)])],
  ["a remote key", Layer.succeed(ReceiptSigner, remoteSigner(SECRET))]
] as const

for (const [name, signer] of kinds) {
  it.layer(receiptsSignedBy(signer), { excludeTestServices: true })(`Receipts with ${name}`, (it) => {
    it.effect("are the same, and verify as a receipt and in their JSON form", () =>
      Effect.gen(function* () {
        const { sign, verify } = yield* Receipts
        const receipt = yield* sign(unsigned)
        const [[, local]] = kinds
        const same = yield* Effect.flatMap(Receipts, (one) => one.sign(unsigned)).pipe(
          Effect.provide(receiptsSignedBy(local))
        )
        assert.deepStrictEqual(receipt, same)
        for (const form of [receipt, yield* Schema.encodeEffect(Receipt)(receipt)]) {
          assert.deepInclude(yield* verify(form), { valid: true, reason: "ok" })
        }
      })
    )

    it.effect("do not verify if a signed field was changed", () =>
      Effect.gen(function* () {
        const { sign, verify } = yield* Receipts
        const receipt = yield* sign(unsigned)
        const changes: ReadonlyArray<Partial<Receipt>> = [
          { cost_microcents: Microcents.make(1n) },
          { status: "error" },
          { timestamp: receipt.created_at }
        ]
        for (const change of changes) {
          assert.strictEqual((yield* verify({ ...receipt, ...change })).reason, "signature_mismatch")
        }
        assert.isTrue((yield* verify({ ...receipt, tool_name: "another", duration_ms: 0 })).valid)
        assert.deepStrictEqual((yield* verify({ ...receipt, cost_microcents: "5" })).missing, ["cost_microcents"])
      })
    )
  })
}

it.effect("A remote key that does not answer in time is unavailable", () =>
  Effect.gen(function* () {
    const { sign, verify } = yield* Receipts
    const signature = "0".repeat(64)
    const asked = Effect.all([Effect.flip(sign(unsigned)), Effect.flip(verify({ ...unsigned, signature }))], {
      concurrency: "unbounded"
    })
    const waiting = yield* Effect.forkChild(asked, { startImmediately: true })
    yield* TestClock.adjust(Duration.millis(SIGNER_MS_MAX))
    const failures = yield* Fiber.join(waiting)
    assert.deepStrictEqual(
      failures.map(({ _tag }) => _tag),
      ["SignerUnavailable", "SignerUnavailable"]
    )
  }).pipe(
    Effect.provide(
      receiptsSignedBy(Layer.succeed(ReceiptSigner, remoteSigner(SECRET, { mishap: () => "hangs", asked: 0 })))
    )
  )
)

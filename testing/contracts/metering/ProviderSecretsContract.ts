/**
 * What ProviderSecrets must do: no secret of one provider is that of another.
 */
import assert from "node:assert/strict"
import { Effect, Redacted } from "effect"
import { ProviderSecrets } from "../../../domain/metering/ProviderSecrets.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { uuid } from "../shared/LedgerSamples.ts"

/** 256 bits in hex or in a denser encoding. */
const SECRET_CHARS_MIN = 32

export const providerSecretsContract: Contract<ProviderSecrets> = [
  rule(
    "gives each provider a secret of its own, always the same",
    Effect.gen(function* () {
      const { secretOf } = yield* ProviderSecrets
      const [one, other] = [ProviderId.make(yield* uuid), ProviderId.make(yield* uuid)]
      const secret = Redacted.value(secretOf(one))
      assert.ok(secret.length >= SECRET_CHARS_MIN, `a secret has ${secret.length} characters`)
      assert.equal(Redacted.value(secretOf(one)), secret)
      assert.notEqual(Redacted.value(secretOf(other)), secret)
    })
  )
]

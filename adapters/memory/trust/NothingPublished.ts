/**
 * A stub that finds no published proof of any provider.
 */
import { Effect, Layer } from "effect"
import { ProofReader } from "../../../domain/trust/Verification.ts"

export const layer = Layer.succeed(
  ProofReader,
  ProofReader.of({
    txt: () => Effect.succeed([]),
    wellKnown: () => Effect.undefined,
    repositoryFile: () => Effect.undefined
  })
)

/**
 * A world in which no provider has published anything.
 */
import { Effect, Layer } from "effect"
import { ProofReader } from "../../../domain/trust/ProofReader.ts"

export const layer = Layer.succeed(
  ProofReader,
  ProofReader.of({
    txt: () => Effect.succeed([]),
    wellKnown: () => Effect.undefined,
    repositoryFile: () => Effect.undefined
  })
)

/**
 * The id of a new call. It ends with the platform fee that is in effect now, because the id is signed: a fee that is changed
 * in the database no longer agrees with the signature.
 */
import { type DateTime, Effect } from "effect"
import { basisPointsAt, DefaultFeeBasisPoints, type ProviderFee } from "../ledger/PlatformFee.ts"
import { Entropy } from "../shared/Entropy.ts"
import { receiptIdOf } from "../shared/Ids.ts"

export const makeCallNames = Effect.gen(function* () {
  const entropy = yield* Entropy
  const defaultFee = yield* DefaultFeeBasisPoints
  return (fee: ProviderFee, now: DateTime.Utc) =>
    Effect.map(entropy.uuid, (uuid) => {
      const feeBasisPoints = basisPointsAt(fee, defaultFee, now.epochMilliseconds)
      return { invocationId: receiptIdOf(uuid, feeBasisPoints), feeBasisPoints }
    })
})

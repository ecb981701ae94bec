/**
 * A client that requests proofs, remembers the trees it saw, and verifies the log against them.
 */
import { Effect } from "effect"
import { rootsOfConsistency, sameHash } from "../../../domain/log/MerkleTree.ts"
import { ReceiptLog } from "../../../domain/log/ReceiptLog.ts"
import { Digest } from "../../../domain/shared/Cryptography.ts"
import { rootOfInclusion } from "../../../testing/contracts/log/InclusionProof.ts"
import { one, wrong } from "./Asking.ts"
import type { ActOf } from "./Step.ts"
import type { World } from "./World.ts"

export const prove = Effect.fnUntraced(function* (world: World, { which }: ActOf<"Prove">) {
  const receipt = one([...world.facts.receipts.values()], which)
  if (receipt === undefined) return "nothing"
  const before = world.board.disturbancesBefore
  const asked = yield* Effect.exit(world.service(ReceiptLog).prove(receipt.receipt_id, undefined))
  if (asked._tag === "Failure") {
    const mayFail = world.board.wasDisturbedSince(before) || world.facts.unplaced.has(receipt.receipt_id)
    return mayFail ? "none" : yield* wrong("in the log", `${receipt.receipt_id} cannot be proven`)
  }
  const { index, leaf, path, root, size } = asked.value
  const { sha256 } = world.service(Digest)
  const found = rootOfInclusion(sha256, leaf, index, size, path)
  if (found === undefined || !sameHash(found, root)) {
    return yield* wrong("in the log", `the proof of ${receipt.receipt_id} does not lead to the root`)
  }
  const known = world.facts.head
  if (known !== undefined && known.size <= size) {
    const proof = yield* Effect.exit(world.service(ReceiptLog).consistency(undefined, known.size, size))
    if (proof._tag === "Failure") return "no second answer"
    const roots = rootsOfConsistency(sha256, known.size, size, known.root, proof.value.hashes)
    if (roots === undefined || !sameHash(roots.smaller, known.root) || !sameHash(roots.larger, root)) {
      return yield* wrong("append only", `the tree of ${size} does not grow out of that of ${known.size}`)
    }
  } else if (known !== undefined) {
    // An answer that was late may be of an earlier tree.
    return "older"
  }
  world.facts.head = { size, root }
  return `in ${size}`
})

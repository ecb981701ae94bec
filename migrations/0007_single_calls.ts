/**
 * Functions for a call that travels alone. Under load calls share a batch; one at a time they came to ten statements over
 * arrays of one each, which was most of the time that a lone call took.
 */
import { Effect } from "effect"
import { closeOneCall } from "./ledger/CloseOneCall.ts"
import { openOneCall } from "./ledger/OpenOneCall.ts"

export default Effect.gen(function* () {
  yield* openOneCall
  yield* closeOneCall
})

/**
 * Why a call is not made. None of these has changed anything.
 */
import { Effect, Schema } from "effect"
import type { ConsumerId } from "../shared/Ids.ts"
import { type Microcents, zero } from "../shared/Microcents.ts"
import type { TooManyCallsInFlight } from "./CallsInFlight.ts"
import type { AnswerNotKept } from "./LeftAnswers.ts"
import type { CallIdempotency, CallStore, Opened, StoredAnswer } from "./CallStore.ts"
import type { ToolAmbiguous, ToolNotFound, ToolWithdrawn } from "./ToolDirectory.ts"

export class PriceChanged extends Schema.TaggedError<PriceChanged>()("PriceChanged", {
  priceMicrocents: Schema.BigInt,
  maxCostMicrocents: Schema.BigInt
}) {
  override get message() {
    return `This call costs ${this.priceMicrocents} microcents, more than the ${this.maxCostMicrocents} that you allowed.`
  }
}

export class InvalidArguments extends Schema.TaggedError<InvalidArguments>()("InvalidArguments", {
  violations: Schema.Array(Schema.Struct({ path: Schema.Array(Schema.String), message: Schema.String }))
}) {
  override get message() {
    return "The input does not fit the tool's input_schema; nothing was charged."
  }
}

export class InsufficientFunds extends Schema.TaggedError<InsufficientFunds>()("InsufficientFunds", {
  costMicrocents: Schema.BigInt,
  balanceMicrocents: Schema.BigInt
}) {
  override get message() {
    return `This call costs ${this.costMicrocents} microcents and ${this.balanceMicrocents} are available. Load your balance first.`
  }
}

export class BudgetExceeded extends Schema.TaggedError<BudgetExceeded>()("BudgetExceeded", {
  budgetId: Schema.String,
  capMicrocents: Schema.BigInt,
  leftMicrocents: Schema.BigInt,
  resetsAt: Schema.UndefinedOr(Schema.String)
}) {
  override get message() {
    const reset = this.resetsAt === undefined ? "" : ` It resets at ${this.resetsAt}.`
    return `Budget ${this.budgetId} has ${this.leftMicrocents} of ${this.capMicrocents} microcents left, too little for this call.${reset}`
  }
}

export class CallConflict extends Schema.TaggedError<CallConflict>()("CallConflict", {}) {
  override get message() {
    return "This Idempotency-Key was used with another call before. Take a new key for a new call."
  }
}

export class CallInFlight extends Schema.TaggedError<CallInFlight>()("CallInFlight", {
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return `The call with this Idempotency-Key is still under way. Send it again in ${this.retryAfterSeconds} s.`
  }
}

export type CallRefused =
  | ToolNotFound
  | ToolWithdrawn
  | ToolAmbiguous
  | PriceChanged
  | InvalidArguments
  | InsufficientFunds
  | BudgetExceeded
  | CallConflict
  | CallInFlight
  | TooManyCallsInFlight
  | AnswerNotKept

const IN_FLIGHT_RETRY_SECONDS = 1

/** What the store answered instead of opening the call: the answer to replay, or the reason in words. */
export const refusalOf = (
  opened: Exclude<Opened, { _tag: "Opened" }>,
  holdAmount: Microcents
): Effect.Effect<
  { readonly _tag: "Replayed"; readonly answer: StoredAnswer },
  InsufficientFunds | BudgetExceeded | CallConflict | CallInFlight
> => {
  switch (opened._tag) {
    case "Replay":
      return Effect.succeed({ _tag: "Replayed", answer: opened.answer })
    case "InsufficientFunds":
      return Effect.fail(
        new InsufficientFunds({ costMicrocents: holdAmount, balanceMicrocents: opened.availableMicrocents })
      )
    case "BudgetExceeded":
      return Effect.fail(
        new BudgetExceeded({
          budgetId: opened.budgetId,
          capMicrocents: opened.capMicrocents,
          leftMicrocents: opened.leftMicrocents,
          resetsAt: opened.resetsAt
        })
      )
    case "IdempotencyConflict":
      return Effect.fail(new CallConflict())
    case "InFlight":
      return Effect.fail(new CallInFlight({ retryAfterSeconds: IN_FLIGHT_RETRY_SECONDS }))
  }
}

/** A call that was made before is answered as before, whatever would refuse it now. */
export const asBefore =
  (calls: CallStore["Service"], consumerId: ConsumerId, idempotency: CallIdempotency) =>
  <E>(refusal: E): Effect.Effect<Replayed, E | KeyRefusal> =>
    Effect.flatMap(calls.earlier(consumerId, idempotency), (earlier): Effect.Effect<Replayed, E | KeyRefusal> =>
      earlier === undefined ? Effect.fail(refusal) : refusalOf(earlier, zero)
    )

type Replayed = Effect.Success<ReturnType<typeof refusalOf>>
type KeyRefusal = Effect.Error<ReturnType<typeof refusalOf>>

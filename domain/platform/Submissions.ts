/**
 * Feedback, and applications to work with the platform.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { Entropy } from "../shared/Entropy.ts"
import { type Submission, type SubmissionKind, SubmissionStore } from "./SubmissionStore.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** Of every list in a submission. */
export const SUBMISSION_ITEMS_MAX = 50

export class Submissions extends Context.Service<
  Submissions,
  {
    submit(kind: SubmissionKind, content: Submission["content"]): Effect.Effect<Submission, StoreUnavailable>
  }
>()("agent-tool-billing/domain/platform/Submissions") {
  static readonly layer = Layer.effect(
    Submissions,
    Effect.gen(function* () {
      const store = yield* SubmissionStore
      const entropy = yield* Entropy
      return Submissions.of({
        submit: Effect.fn("Submissions.submit")(function* (kind: SubmissionKind, content: Submission["content"]) {
          const submission: Submission = { id: yield* entropy.uuid, kind, content, submittedAt: yield* DateTime.now }
          yield* store.add(submission)
          return submission
        })
      })
    })
  )
}

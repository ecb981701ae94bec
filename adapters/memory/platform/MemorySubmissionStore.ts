/**
 * Feedback and applications in memory.
 */
import { DateTime, Effect, Layer } from "effect"
import { type Submission, type SubmissionKind, SubmissionStore } from "../../../domain/platform/Submissions.ts"
import { newestFirst } from "../shared/MemoryRows.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.sync(SubmissionStore, () => {
  const submissions = new Map<string, Submission>()
  const ofKind = (kind: SubmissionKind) => [...submissions.values()].filter((one) => one.kind === kind)
  return SubmissionStore.of({
    add: (submission) => put(submissions, submission.id, submission),
    recent: (kind, limit) =>
      Effect.sync(() =>
        ofKind(kind)
          .toSorted(newestFirst((one) => one.submittedAt))
          .slice(0, limit)
      ),
    eraseOf: Effect.fnUntraced(function* (contact) {
      const theirs = [...submissions.values()].filter(
        ({ content }) =>
          String(content["contact"] ?? "")
            .trim()
            .toLowerCase() === contact.toLowerCase()
      )
      for (const one of theirs) yield* put(submissions, one.id, { ...one, content: {} })
      return theirs.length
    }),
    count: (kind, since) =>
      Effect.sync(
        () =>
          ofKind(kind).filter(
            ({ submittedAt }) => since === undefined || DateTime.isGreaterThanOrEqualTo(submittedAt, since)
          ).length
      )
  })
})

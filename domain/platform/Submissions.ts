/**
 * Feedback, and applications to work with the platform.
 */
import { Context, DateTime, Effect, Layer, type Option, type Schema } from "effect"
import { Entropy } from "../shared/Cryptography.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** `application` is from a provider who wants to sell tools here. */
export type SubmissionKind = "feedback" | "application"

/** A form that a visitor sent to the operator. */
export interface Submission {
  readonly id: string
  readonly kind: SubmissionKind
  readonly content: Readonly<Record<string, Schema.Json>>
  readonly submittedAt: DateTime.Utc
}

/** Port to feedback and applications, as they were sent. */
export class SubmissionStore extends Context.Service<
  SubmissionStore,
  {
    add(submission: Submission): Effect.Effect<void, StoreUnavailable>
    /** Newest first. */
    recent(kind: SubmissionKind, limit: number): Effect.Effect<ReadonlyArray<Submission>, StoreUnavailable>
    /** Replaces submissions with that contact address by `{}`; returns how many. Case does not matter. */
    eraseOf(contact: string): Effect.Effect<number, StoreUnavailable>
    /** Counts those from `since` on; all without it. */
    count(kind: SubmissionKind, since?: DateTime.Utc): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/platform/SubmissionStore") {}

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

/** An address to tell when there is news, and where its owner heard of the service. */
export interface WaitlistEntry {
  readonly id: string
  /** Normalized: trimmed, lower case. */
  readonly email: string
  readonly source: string
  readonly joinedAt: DateTime.Utc
}

/** Port to the waitlist, which has each address once. */
export class WaitlistStore extends Context.Service<
  WaitlistStore,
  {
    /** False if the address is on the list: the first entry stays. */
    add(entry: WaitlistEntry): Effect.Effect<boolean, StoreUnavailable>
    find(email: string): Effect.Effect<Option.Option<WaitlistEntry>, StoreUnavailable>
    /** The entry stays and counts, without its address. False if there is none. */
    erase(email: string): Effect.Effect<boolean, StoreUnavailable>
    /** Entries from `since` on; all without it. */
    count(since?: DateTime.Utc): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/platform/WaitlistStore") {}

export const WAITLIST_SOURCE_CHARS_MAX = 200

/** Email addresses for news about the platform. Each address is on the list once. */
export class Waitlist extends Context.Service<
  Waitlist,
  {
    /** The new entry's id; undefined if the address was on the list. */
    join(email: string, source: string): Effect.Effect<string | undefined, StoreUnavailable>
  }
>()("agent-tool-billing/domain/platform/Waitlist") {
  static readonly layer = Layer.effect(
    Waitlist,
    Effect.gen(function* () {
      const store = yield* WaitlistStore
      const entropy = yield* Entropy
      return Waitlist.of({
        join: Effect.fn("Waitlist.join")(function* (email: string, source: string) {
          const id = yield* entropy.uuid
          return (yield* store.add({ id, email, source, joinedAt: yield* DateTime.now })) ? id : undefined
        })
      })
    })
  )
}

/**
 * Port to feedback and applications, as they were sent.
 */
import { Context, type DateTime, type Effect, type Schema } from "effect"
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

export class SubmissionStore extends Context.Service<
  SubmissionStore,
  {
    add(submission: Submission): Effect.Effect<void, StoreUnavailable>
    /** Newest first. */
    recent(kind: SubmissionKind, limit: number): Effect.Effect<ReadonlyArray<Submission>, StoreUnavailable>
    /** Replaces submissions with that contact address by `{}`; returns how many. Case does not matter. */
    eraseOf(contact: string): Effect.Effect<number, StoreUnavailable>
    /** Those from `since` on; all without it. */
    count(kind: SubmissionKind, since?: DateTime.Utc): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/platform/SubmissionStore") {}

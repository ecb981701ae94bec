/**
 * A store does not answer at the moment. Retry later: the work may have been done nevertheless, because a connection can
 * break after the commit. Never treat it as an answer of the store: a caller that recovers from its own failures lets this
 * one pass.
 */
import { Context, Effect, Schema } from "effect"

// Libraries wrap failures in failures: the innermost message states the cause.

const CAUSES_MAX = 10

export const rootMessage = (error: unknown): string => {
  let text = ""
  let inner: unknown = error
  for (let n = 0; n <= CAUSES_MAX && typeof inner === "object" && inner !== null; n++) {
    if (inner instanceof Error && inner.message !== "") text = inner.message
    inner = "cause" in inner ? inner.cause : undefined
  }
  return text === "" ? "no reason given" : text.replace(/\.$/u, "")
}

export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  /** `book_unconfirmed`: this node may not post to the ledger, or does not know yet whether it may. */
  reason: Schema.Literals(["unreachable", "busy", "disk_full", "overloaded", "book_unconfirmed"]),
  cause: Schema.Defect()
}) {
  override get message() {
    return messages[this.reason]
  }

  get detail(): string {
    return `${this.reason} (${rootMessage(this.cause)})`
  }
}

const messages = {
  unreachable:
    "The database cannot be reached, or it rejects the service's role or every write. Check that it is running and is the primary, and retry in a few seconds.",
  busy: "The database is busy: a lock on the same rows was not released in time, or connections or memory are exhausted. Retry in a few seconds.",
  disk_full: "The database rejects writes because its disk is full. Free some space.",
  overloaded: "Too many requests wait for the database. Retry in a few seconds.",
  book_unconfirmed: "This node has not confirmed that it may post to this ledger. The cause states what to do."
}

/** Dies of anything else, in an operation that only an unavailable store can fail. */
export const dieUnlessUnavailable = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Unavailable<E>, R> =>
  effect.pipe(
    Effect.catch((error) =>
      error instanceof StoreUnavailable ? Effect.fail(error as Unavailable<E>) : Effect.die(error)
    )
  )

type Unavailable<E> = Extract<E, StoreUnavailable>

/**
 * All or nothing: what the ports write inside `atomically` is committed together or not at all. Nested calls are
 * savepoints: a caught failure inside undoes only the inside. External effects (payments, tool calls, mail) do not belong
 * in here.
 */
export class UnitOfWork extends Context.Service<
  UnitOfWork,
  {
    atomically<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | StoreUnavailable, R>
  }
>()("agent-tool-billing/domain/shared/UnitOfWork") {}

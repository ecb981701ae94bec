/**
 * A health check of one part of the service.
 */
import { type Effect, Schema } from "effect"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** The part does not work. `problem` is the reason, for operators. */
export class PartDown extends Schema.TaggedError<PartDown>()("PartDown", { problem: Schema.String }) {
  override get message() {
    return this.problem
  }
}

export interface Probe {
  readonly name: string
  /** Without it the service is down. */
  readonly critical: boolean
  readonly limitMs: number
  /** A slower response means degraded. */
  readonly slowMs: number
  /** What is wrong although it works; undefined if nothing is. A failure states why it does not work. */
  readonly ask: Effect.Effect<string | Note | undefined, PartDown | StoreUnavailable>
}

/** What operators should know although nothing is wrong. */
export interface Note {
  readonly note: string
}

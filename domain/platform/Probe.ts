/**
 * How a part of the service is asked whether it works.
 */
import { type Effect, Schema } from "effect"

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
  /** An answer that takes longer is a sign of trouble. */
  readonly slowMs: number
  /** What is wrong though it works, in a sentence; undefined if nothing is. A failure says why it does not work. */
  readonly ask: Effect.Effect<string | Note | undefined, PartDown>
}

/** What operators should know although nothing is wrong. */
export interface Note {
  readonly note: string
}

/**
 * Port that reads what a provider published on its domain or in its repository. Distinguishes a failed read from a
 * missing proof: only the latter says anything about the provider.
 */
import { Context, type Effect, Schema } from "effect"

/** The place could not be read, which says nothing about the provider. Retry later. */
export class ProofUnreadable extends Schema.TaggedError<ProofUnreadable>()("ProofUnreadable", {
  place: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `${this.place} could not be read: ${this.problem}.`
  }
}

export class ProofReader extends Context.Service<
  ProofReader,
  {
    /** The TXT records of a name; none if the name does not exist. */
    txt(name: string): Effect.Effect<ReadonlyArray<string>, ProofUnreadable>
    /** The well-known file of a domain; undefined if it does not exist. */
    wellKnown(domain: string): Effect.Effect<string | undefined, ProofUnreadable>
    /** `.mcp-billing.json` on the default branch of a repository; undefined if it does not exist. */
    repositoryFile(repositoryUrl: string): Effect.Effect<string | undefined, ProofUnreadable>
  }
>()("agent-tool-billing/domain/trust/ProofReader") {}

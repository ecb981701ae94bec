/**
 * Reads what a provider has published where only the owner of a domain or of a repository can. What could not be read is
 * told apart from what is not there: only the latter says anything about the provider.
 */
import { Context, type Effect, Schema } from "effect"

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
    /** The TXT records of a name; none if there is no such name. */
    txt(name: string): Effect.Effect<ReadonlyArray<string>, ProofUnreadable>
    /** The well-known file of a domain; undefined if there is none. */
    wellKnown(domain: string): Effect.Effect<string | undefined, ProofUnreadable>
    /** `.mcp-billing.json` on the default branch of a repository; undefined if there is none. */
    repositoryFile(repositoryUrl: string): Effect.Effect<string | undefined, ProofUnreadable>
  }
>()("agent-tool-billing/domain/trust/ProofReader") {}

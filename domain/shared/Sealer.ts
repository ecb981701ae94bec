/**
 * Keeps what must be stored but not be readable in the store: an answer that shows a key once, for its replay.
 */
import { Context, type Option } from "effect"

export class Sealer extends Context.Service<
  Sealer,
  {
    /** Authenticated encryption; `context` must be the same when it is opened. */
    seal(text: string, context: string): string
    /** None if it was sealed with a secret that is no longer known, for another context, or changed since. */
    open(sealed: string, context: string): Option.Option<string>
  }
>()("agent-tool-billing/domain/shared/Sealer") {}

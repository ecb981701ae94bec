/**
 * Encrypts stored data that must not be readable in the store, such as a response that contains a key.
 */
import { Context, type Option } from "effect"

export class Sealer extends Context.Service<
  Sealer,
  {
    /** Authenticated encryption; `context` must be the same for decryption. */
    seal(text: string, context: string): string
    /** None if the secret is no longer known, the context differs, or the data was changed. */
    open(sealed: string, context: string): Option.Option<string>
  }
>()("agent-tool-billing/domain/shared/Sealer") {}

/**
 * The secret shared with a provider: forwarded requests are signed with it, and the provider verifies the signature.
 */
import { Context, type Redacted } from "effect"
import type { ProviderId } from "../shared/Ids.ts"

export class ProviderSecrets extends Context.Service<
  ProviderSecrets,
  {
    /** As text; its UTF-8 bytes are the key. */
    secretOf(providerId: ProviderId): Redacted.Redacted
  }
>()("agent-tool-billing/domain/metering/ProviderSecrets") {}

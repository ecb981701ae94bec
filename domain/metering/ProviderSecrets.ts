/**
 * The secret that a provider and this market share: forwarded requests are signed with it, and the provider checks them.
 */
import { Context, type Redacted } from "effect"
import type { ProviderId } from "../shared/Ids.ts"

export class ProviderSecrets extends Context.Service<
  ProviderSecrets,
  {
    /** As text; its UTF-8 is the key. */
    secretOf(providerId: ProviderId): Redacted.Redacted
  }
>()("agent-tool-billing/domain/metering/ProviderSecrets") {}

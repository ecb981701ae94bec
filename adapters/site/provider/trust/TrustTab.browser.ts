/**
 * The provider's trust score and how to improve it, verification and service levels.
 */
import { Fragment } from "preact"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { Loaded, useResource } from "../../console/Resource.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { request } from "../../kit/ApiRequest.browser.ts"
import type { Sla, Trust } from "../../kit/ApiResponses.browser.ts"
import { ServiceLevels } from "./ServiceLevels.browser.ts"
import { readTrust } from "./TrustRequest.browser.ts"
import { ScoreComponents } from "./ScoreComponents.browser.ts"
import { ProviderVerification } from "./ProviderVerification.browser.ts"

/** The service caches public responses for about this long. */
const CACHED_MS = 2_500

export const tab = (): View => {
  const { account } = useConsole()
  const trust = useResource(() => readTrust(account.id), [])
  const sla = useResource(
    () => request<Sla>("GET", `/api/v1/market/providers/${account.id}/sla`, { isFresh: true }),
    []
  )
  return h(
    Fragment,
    null,
    h(Loaded<Trust>, {
      of: trust,
      show: (value) =>
        h(
          Fragment,
          null,
          h(ScoreComponents, { trust: value }),
          h(ProviderVerification, {
            level: value.details.verification_level,
            verified: () => setTimeout(() => void trust.reload(), CACHED_MS)
          })
        )
    }),
    h(
      "section",
      { id: "service-levels" },
      h("h2", null, "Service levels, last 30 days"),
      h(Loaded<Sla>, { of: sla, show: (value) => h(ServiceLevels, { sla: value }) })
    )
  )
}

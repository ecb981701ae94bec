/**
 * The call form with the tool's current terms: the page may be cached.
 */
import { Fragment } from "preact"
import { useEffect } from "preact/hooks"
import { Notice } from "../console/Badge.browser.ts"
import { Modals } from "../console/Modal.browser.ts"
import { Loaded, useResource } from "../console/Resource.browser.ts"
import { h, type View } from "../console/View.browser.ts"
import { request } from "../kit/ApiRequest.browser.ts"
import type { ToolDetails } from "../kit/ApiResponses.browser.ts"
import type { Schema } from "./ArgumentFields.browser.ts"
import { CallForm } from "./CallForm.browser.ts"

export interface CallSectionProps {
  readonly toolId: string
  /** As the page shows it. */
  readonly price: string
  /** Sample input, as JSON. */
  readonly sample: string
  /** Called once the form is there. */
  readonly shown: () => void
}

export const CallSection = ({ price, sample, shown, toolId }: CallSectionProps): View => {
  const tool = useResource(
    () => request<ToolDetails>("GET", `/api/v1/market/tools/${toolId}`, { isFresh: true }),
    [toolId]
  )
  const isLoaded = tool.state.value.value !== undefined
  useEffect(() => {
    if (isLoaded) shown()
  }, [isLoaded])
  return h(
    Fragment,
    null,
    h(Loaded<ToolDetails>, {
      of: tool,
      show: (found) =>
        found.provider_frozen_at !== null
          ? h(Notice, null, "The operator has frozen the provider: this tool is not for sale at present.")
          : found.withdrawn_at !== null
            ? h(Notice, null, "The provider has withdrawn this tool.")
            : h(
                Fragment,
                null,
                price === found.pricing.price
                  ? undefined
                  : h(Notice, null, `The price has changed. A call now costs ${found.pricing.price}.`),
                h(CallForm, { tool: found, sample: JSON.parse(sample) as Schema })
              )
    }),
    h(Modals, null)
  )
}

/**
 * Says how many disputes wait for the provider's response, and until when.
 */
import { Notice } from "../../console/Badge.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import type { Dispute } from "../../console/DisputeTerms.browser.ts"
import { pathTo } from "../../console/Place.browser.ts"
import { Loaded, useResource } from "../../console/Resource.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import { plural, relativeTime } from "../../kit/Format.browser.ts"
import { openDisputes } from "./OpenDisputes.browser.ts"

export const OpenDisputesNotice = (): View => {
  const { api } = useConsole()
  const open = useResource(() => openDisputes(api), [])
  return h(Loaded<ReadonlyArray<Dispute>>, {
    of: open,
    show: ([next, ...others]) =>
      next === undefined
        ? undefined
        : h(
            Notice,
            { style: "bad" },
            `${plural(others.length + 1, "dispute")} ${others.length === 0 ? "needs" : "need"} your response, the next one `,
            h("a", { href: pathTo("disputes", next.dispute_id) }, relativeTime(next.respond_by)),
            ". Without a response the developer is refunded."
          )
  })
}

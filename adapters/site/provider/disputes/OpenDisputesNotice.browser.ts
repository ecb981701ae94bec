/**
 * Says how many disputes wait for the provider's response, and until when.
 */
import { pathTo } from "../../console/Place.browser.ts"
import { h, Notice, type View } from "../../console/View.browser.ts"
import { plural, relativeTime } from "../../kit/Format.browser.ts"

interface OpenDisputesNoticeProps {
  readonly open: number
  /** The one with the next deadline. */
  readonly next: { readonly dispute_id: string; readonly respond_by: string } | null | undefined
}

export const OpenDisputesNotice = ({ next, open }: OpenDisputesNoticeProps): View | undefined =>
  next === null || next === undefined
    ? undefined
    : h(
        Notice,
        { style: "bad" },
        `${plural(open, "dispute")} ${open === 1 ? "needs" : "need"} your response, the next one `,
        h("a", { href: pathTo("disputes", next.dispute_id) }, relativeTime(next.respond_by)),
        ". Without a response the developer is refunded."
      )

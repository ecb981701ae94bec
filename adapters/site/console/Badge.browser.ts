/**
 * Badges, notices and what a page shows where there is no data yet.
 */
import { type ComponentChildren } from "preact"
import { h, type View } from "./View.browser.ts"

/** Label and style of each status. */
export type Badges<Status extends string> = Readonly<Record<Status, readonly [label: string, style: BadgeStyle]>>

type BadgeStyle = "good" | "bad" | "info" | ""

export const Badge = ({ label, style = "" }: { readonly label: string; readonly style?: BadgeStyle }): View =>
  h("span", { class: `badge ${style}` }, label)

export const statusBadge = <Status extends string>(all: Badges<Status>, status: Status): View => {
  const [label, style] = all[status] ?? [status, ""]
  return h(Badge, { label, style })
}

export interface NoticeProps {
  readonly style?: "good" | "bad" | ""
  readonly children?: ComponentChildren
}

export const Notice = ({ children, style = "" }: NoticeProps): View =>
  h("div", { class: `notice ${style}`, role: style === "bad" ? "alert" : "status" }, children)

/** Says what will be here and how to get it. */
export const Empty = ({ children }: { readonly children?: ComponentChildren }): View =>
  h("div", { class: "empty" }, children)

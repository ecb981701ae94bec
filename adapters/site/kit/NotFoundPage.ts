/**
 * The page for unknown URLs.
 */
import { Effect } from "effect"
import { html } from "./Html.ts"
import { makeSite, notFoundPage } from "./Site.ts"

export const notFoundReply = Effect.map(makeSite, (site) =>
  notFoundPage(
    site,
    "This page does not exist.",
    html`<p>
      Go to the <a href="/">home page</a>, the <a href="/catalog">catalog</a>, the <a href="/docs">documentation</a> or
      the <a href="/status">status page</a>.
    </p>`
  )
)

/**
 * The page for addresses without a route.
 */
import { Effect } from "effect"
import { html } from "./Html.ts"
import { makeSite, notFoundPage } from "./Site.ts"

export const notFoundReply = Effect.map(makeSite, (site) =>
  notFoundPage(
    site,
    "There is nothing at this address.",
    html`<p>It may have been mistyped, or have moved. From here on:</p>
      <ul>
        <li><a href="/">What this service is</a></li>
        <li><a href="/catalog">The catalogue of tools</a></li>
        <li><a href="/docs">The documentation of every endpoint</a></li>
        <li><a href="/status">Whether everything works</a></li>
      </ul>`
  )
)

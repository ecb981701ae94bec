/**
 * The changelog as a page and as Markdown.
 */
import { Effect } from "effect"
import { publicRead } from "../../http/contract/Access.ts"
import { documentRoute, type EncodedReply } from "../../http/pipeline/Route.ts"
import { type ChangelogEntry, changelog, changelogMarkdown } from "./ChangelogEntries.ts"
import { type Html, html, prose } from "../kit/Html.ts"
import { makeSite, type Site } from "../kit/Site.ts"

export const changelogRoutes = Effect.map(makeSite, (site) => [
  documentRoute("/changelog", publicRead, Effect.succeed(changelogPage(site, changelog)), "Changelog"),
  documentRoute(
    "/changelog.md",
    publicRead,
    Effect.succeed({
      status: 200,
      headers: { "content-type": "text/markdown; charset=utf-8" },
      body: changelogMarkdown(changelog)
    }),
    "Changelog as Markdown"
  )
])

const changelogPage = (site: Site, entries: ReadonlyArray<ChangelogEntry>): EncodedReply =>
  site({
    title: "Changelog",
    description: "Changes to Agent Tool Billing, by release.",
    path: "/changelog",
    body: html`
      <div class="narrow">
        <h1>Changelog</h1>
        ${entries.map(release)}
        <p class="small muted"><a href="/changelog.md">View as Markdown</a></p>
      </div>
    `
  })

const DAY = new Intl.DateTimeFormat("en-US", { dateStyle: "long", timeZone: "UTC" })

const day = (date: string): Html => html`<time datetime="${date}">${DAY.format(Date.parse(`${date}T00:00:00Z`))}</time>`

const release = ({ from, parts, summary, to, version }: ChangelogEntry): Html => {
  const id = `v${version.replaceAll(".", "-")}`
  return html`<section id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${version}</h2>
    <p class="muted">${from === to ? day(to) : html`${day(from)} – ${day(to)}`}</p>
    <p>${prose(summary)}</p>
    ${parts.map(
      ({ items, title }) =>
        html`<h3>${title}</h3>
          <ul>
            ${items.map((item) => html`<li>${prose(item)}</li>`)}
          </ul>`
    )}
  </section>`
}

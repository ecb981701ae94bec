/**
 * `CHANGELOG.md` as a page and as Markdown.
 */
import { Effect } from "effect"
import { publicRead } from "../../http/contract/Endpoint.ts"
import { documentRoute } from "../../http/pipeline/Route.ts"
import { pageLink } from "../docs/GuidePages.ts"
import { Documents, renderMarkdown } from "../docs/Markdown.ts"
import { type Html, html } from "../kit/Html.ts"
import { makeSite } from "../kit/Site.ts"

/** The path among the documents, which are below `docs/`. */
export const CHANGELOG = "../CHANGELOG.md"

export const changelogRoutes = Effect.gen(function* () {
  const site = yield* makeSite
  const text = (yield* Documents).get(CHANGELOG) ?? ""
  // As for the documentation, the Markdown parser is loaded with the first page.
  const page = yield* Effect.cached(
    Effect.map(
      Effect.promise(() => import("marked")),
      ({ lexer }) =>
        site({
          title: "Changelog",
          description: "Changes to Agent Tool Billing, by release.",
          path: "/changelog",
          body: changelog(text, (part) => renderMarkdown(lexer, part, { linkOf: (href) => pageLink("", href) }).body)
        })
    )
  )
  return [
    documentRoute("/changelog", publicRead, page, "Changelog"),
    documentRoute(
      "/changelog.md",
      publicRead,
      Effect.succeed({ status: 200, headers: { "content-type": "text/markdown; charset=utf-8" }, body: text }),
      "Changelog as Markdown"
    )
  ]
})

type Render = (text: string) => Html

const changelog = (text: string, render: Render): Html => {
  const [title = "", ...releases] = text.split(/^## /mu)
  return html`
    <div class="narrow">
      ${render(title)} ${releases.map((one) => release(one, render))}
      <p class="small muted"><a href="/changelog.md">View as Markdown</a></p>
    </div>
  `
}

const DAY = new Intl.DateTimeFormat("en-US", { dateStyle: "long", timeZone: "UTC" })

/** A release begins with its version and date, `0.4.0 - 2026-11-28`; its parts have titles too. */
const release = (text: string, render: Render): Html => {
  const [summary, ...parts] = text.split(/^### /mu).map(titled)
  const [version = "", date = ""] = summary!.title.split(" - ")
  const id = `v${version.replaceAll(".", "-")}`
  return html`<section id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${version}</h2>
    <p class="muted"><time datetime="${date}">${DAY.format(Date.parse(`${date}T00:00:00Z`))}</time></p>
    ${render(summary!.body)}
    ${parts.map(
      ({ body, title }) =>
        html`<h3>${title}</h3>
          ${render(body)}`
    )}
  </section>`
}

const titled = (text: string) => {
  const [title = "", ...lines] = text.split("\n")
  return { title, body: lines.join("\n") }
}

/**
 * HTML pages with inline style and, where needed, scripts of this service. The content security policy allows nothing else.
 */
import { createHash } from "node:crypto"
import type { EncodedReply } from "../../http/pipeline/Route.ts"
import { type Html, html } from "./Html.ts"

export interface PageParts {
  readonly title: string
  readonly description: string
  readonly style: string
  /** URLs of this service's modules. */
  readonly modules?: ReadonlyArray<string>
  /** URLs of the modules that those import. */
  readonly preloads?: ReadonlyArray<string>
  /** Whether scripts may send requests to the service. */
  readonly connects?: boolean
  readonly status?: number
  readonly body: Html
}

export const pageReply = (parts: PageParts): EncodedReply => ({
  status: parts.status ?? 200,
  headers: {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policyFor(parts)
  },
  body: pageText(parts)
})

const policyFor = ({ connects, modules, style }: PageParts): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
    ...(modules === undefined ? [] : ["script-src 'self'"]),
    ...(connects === true ? ["connect-src 'self'"] : []),
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'"
  ].join("; ")

export const ICON_SVG =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0f6b50"/>` +
  `<path d="M9 21V11h14M9 16h10M23 11v10" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>`

/** Inline, so that browsers do not request /favicon.ico. */
const ICON = `data:image/svg+xml,${encodeURIComponent(ICON_SVG)}`

const pageText = ({ title, description, modules = [], preloads = [], style, body }: PageParts): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<meta name="description" content="${description}">
<link rel="icon" href="${ICON}">
<style>`.markup +
  style +
  html`</style>
${preloads.map((preload) => html`<link rel="modulepreload" href="${preload}" />`)}
${modules.map((module) => html`<script type="module" src="${module}"></script>`)}
</head>
<body>${body}</body>
</html>
`.markup

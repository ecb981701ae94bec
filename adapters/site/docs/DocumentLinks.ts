/**
 * The documentation's Markdown pages, for llms.txt.
 */
import { ERRORS_PAGE } from "../../http/contract/Problem.ts"
import type { DocumentLink } from "../../http/pipeline/Route.ts"
import { guidePath, guides } from "./DocsMap.ts"
import { API_PAGE } from "./DocsNavigation.ts"

export const documentLinks = (): ReadonlyArray<DocumentLink> => [
  { path: "/docs.md", title: "Overview", summary: "Every page, and every endpoint." },
  ...guides.map((guide) => ({ path: `${guidePath(guide)}.md`, title: guide.title, summary: guide.summary })),
  { path: `${API_PAGE}.md`, title: "API conventions", summary: "Authentication, amounts, names, idempotency, limits." },
  { path: `${ERRORS_PAGE}.md`, title: "Errors", summary: "Every error code: what it means and what to do." }
]

/**
 * The part of a page that shows how to connect an MCP client. A script puts the clients in tabs and fills in the key of the
 * browser tab; the page itself never contains a key.
 */
import { type Html, html, prose } from "../kit/Html.ts"
import { copyable } from "../kit/Site.ts"
import { clientConfigs, type Door, KEY_PLACEHOLDER } from "./ClientConfigs.ts"

export const connectStyle = `
.tabs{display:flex;flex-wrap:wrap;gap:.25rem .4rem;border-bottom:1px solid var(--line);margin:0 0 1rem}
button.tab{background:transparent;color:var(--muted);border:0;border-bottom:3px solid transparent;border-radius:0;padding:.4rem .6rem}
button.tab[aria-selected=true]{color:var(--accent);border-bottom-color:var(--accent)}
.place{font-size:.875rem;color:var(--muted);margin:0 0 .25rem}
.connect .choice{margin:0 0 1rem}
.connect details{margin:0 0 .5rem}
`

type LabeledDoor = readonly [label: string, door: Door]

/** The script needs the configurations for each door, with the placeholder that it replaces. */
export const connectData = (doors: ReadonlyArray<LabeledDoor>): string =>
  JSON.stringify({
    placeholder: KEY_PLACEHOLDER,
    doors: doors.map(([label, door]) => ({ label, configs: clientConfigs(door, undefined) }))
  })

/** Several doors: the reader chooses one of them. */
export const connectSection = (doors: ReadonlyArray<LabeledDoor>): Html =>
  html`<div id="connect" class="connect" data-connect="${connectData(doors)}">
    ${clientConfigs(doors[0]![1], undefined).map(
      ({ label, note, snippets }) =>
        html`<details>
          <summary>${label}</summary>
          ${snippets.map(
            ({ code, place }) =>
              html`<p class="place">${place}</p>
                ${copyable(code)}`
          )}
          <p class="small muted">${prose(note)}</p>
        </details>`
    )}
  </div>`

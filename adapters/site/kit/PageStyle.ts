/**
 * Colors and basic elements of every page. Text has a contrast of at least 4.5:1 in light and dark, as a test checks.
 */
export const lightColors = {
  ground: "#ffffff",
  panel: "#f5f8f6",
  ink: "#14201b",
  muted: "#53625b",
  line: "#dde5e1",
  accent: "#0a6a4d",
  tint: "#ecf2ef",
  "get-ground": "#dcf2e7",
  get: "#07573d",
  "post-ground": "#e1ebfb",
  post: "#1a4690",
  "delete-ground": "#fde4df",
  delete: "#95210f",
  "code-ground": "#10201a",
  "code-ink": "#dcebe4",
  "code-muted": "#9db5aa",
  "code-key": "#86dab6",
  "code-text": "#f2cf94",
  "code-literal": "#a9cdff"
}

export const darkColors: typeof lightColors = {
  ground: "#0e1513",
  panel: "#141d1a",
  ink: "#e3ece8",
  muted: "#a0b1a9",
  line: "#27342f",
  accent: "#63d3a7",
  tint: "#1c2824",
  "get-ground": "#12372a",
  get: "#84dfb8",
  "post-ground": "#172d4e",
  post: "#a5c8ff",
  "delete-ground": "#481c15",
  delete: "#ffb5a8",
  "code-ground": "#080e0c",
  "code-ink": "#dcebe4",
  "code-muted": "#9db5aa",
  "code-key": "#86dab6",
  "code-text": "#f2cf94",
  "code-literal": "#a9cdff"
}

export const cssVariables = (colors: typeof lightColors): string =>
  Object.entries(colors)
    .map(([name, value]) => `--${name}:${value}`)
    .join(";")

export const pageStyle = `
:root{color-scheme:light dark;${cssVariables(lightColors)}}
@media (prefers-color-scheme:dark){:root{${cssVariables(darkColors)}}}
*,*::before,*::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%;scroll-padding-top:1.5rem}
body{margin:0;background:var(--ground);color:var(--ink);font:1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.875em}
code{overflow-wrap:anywhere}
.short{white-space:nowrap}
p,ul,ol,pre,table,figure{margin:0 0 1rem}
p,li,td{overflow-wrap:break-word}
ul,ol{padding-left:1.25rem}
li+li{margin-top:.35rem}
h1,h2,h3{line-height:1.2;margin:0 0 1rem;letter-spacing:-.015em;text-wrap:balance;overflow-wrap:anywhere}
label{overflow-wrap:anywhere}
h1{font-size:clamp(2rem,1.4rem + 2.5vw,3rem);letter-spacing:-.03em}
h2{font-size:1.75rem}
h3{font-size:1.25rem}
a{color:var(--accent);text-underline-offset:.2em;text-decoration-thickness:.06em}
a:hover{text-decoration-thickness:.12em}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:4px}
main:focus{outline:none}
p code,li code,td code,th code{background:var(--tint);border-radius:4px;padding:.1em .3em}
a code{color:inherit}
pre{background:var(--code-ground);color:var(--code-ink);border-radius:10px;padding:1rem 1.1rem;white-space:pre-wrap;font-size:.9375rem;line-height:1.55}
pre code,li pre code{display:block;background:none;padding:0;border-radius:0}
.whole{user-select:all;-webkit-user-select:all}
.skip{position:absolute;left:1rem;top:-5rem;background:var(--ink);color:var(--ground);padding:.6rem 1rem;border-radius:8px;z-index:1}
.skip:focus{top:1rem}
table{width:100%;border-collapse:collapse;font-size:.9375rem}
caption{text-align:left;font-weight:650;padding:0 0 .4rem}
th,td{text-align:left;vertical-align:top;padding:.55rem .75rem .55rem 0;border-top:1px solid var(--line)}
thead th{color:var(--muted);font-weight:500;font-size:.8125rem;border-top:0;padding-top:0}
tbody th{font-weight:500}
`

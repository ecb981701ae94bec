/**
 * Styles of the site's pages and components. Text has a contrast of at least 4.5:1 in light and dark, as a test checks.
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

const pageStyle = `
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

/** Header and footer. */
const frameStyle = `
.site{border-bottom:1px solid var(--line)}
.site nav,.foot{max-width:68rem;margin:0 auto;padding:0 1rem}
.site nav{display:flex;flex-wrap:wrap;align-items:center;gap:.1rem 1.25rem;padding-top:.7rem;padding-bottom:.7rem}
.site a{color:var(--ink);text-decoration:none;padding:.3rem 0}
.site a:hover{text-decoration:underline}
.site a[aria-current]{color:var(--accent);text-decoration:underline;text-decoration-thickness:.12em;text-underline-offset:.4em}
.site .brand{font-weight:750;letter-spacing:-.01em;margin-right:auto}
.foot{border-top:1px solid var(--line);padding-top:1.25rem;padding-bottom:2rem;color:var(--muted);font-size:.9375rem;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}
.foot a{color:var(--muted)}
`

/** Up to this width each row of a table is a card with the names of its columns. */
export const cardTables = (width: string): string => `@media (max-width:${width}){
table.data thead{display:none}
table.data,table.data tbody{display:block}
table.data tr{display:block;border:1px solid var(--line);border-radius:10px;padding:.4rem .8rem;margin-bottom:.6rem}
table.data td,table.data tbody th,table.data td.right,table.data .right+:not(.right){display:grid;grid-template-columns:minmax(6rem,2fr) minmax(0,3fr);gap:.75rem;border:0;padding:.25rem 0;text-align:left}
table.data td::before,table.data tbody th::before{content:attr(data-label);color:var(--muted);font-size:.875rem}
table.data td>div,table.data td>span,table.data tbody th>span{text-align:right;overflow-wrap:anywhere;min-width:0}
table.data td[data-label=""],table.data .right+td[data-label=""]{grid-template-columns:minmax(0,1fr)}
table.data td[data-label=""]::before{content:none}
table.data tbody th::before{font-weight:400}
table.data caption{display:block}
table.data td.long,table.data .right+td.long{grid-template-columns:minmax(0,1fr);gap:0}
table.data td.long>div{text-align:left}
table.data td.nowrap,table.data td time{white-space:normal}
}`

export const siteStyle = `${pageStyle}${frameStyle}main{max-width:68rem;margin:0 auto;padding:0 1rem}
[tabindex="-1"]:focus{outline:none}
::placeholder{color:var(--muted);opacity:.85}
main{padding-top:2.25rem;padding-bottom:4rem;display:block}
main>section{margin-top:2.75rem}
.lead{font-size:1.2rem;line-height:1.5;color:var(--muted);max-width:44rem;text-wrap:pretty;overflow-wrap:anywhere}
.narrow{max-width:44rem}
.muted{color:var(--muted)}
.small{font-size:.875rem}
.number{font-variant-numeric:tabular-nums}
.right{text-align:right}
td.right,th.right{padding-left:.75rem}
td.right:last-child,th.right:last-child{padding-right:0}
.nowrap,td time{white-space:nowrap}
.right+:not(.right){padding-left:1.25rem}
thead td{border-top:0}
.scroll th{white-space:nowrap}
.grid{display:grid;gap:1.25rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,19rem),1fr));align-items:start}
.card{background:var(--panel);border:1px solid var(--line);border-radius:14px;padding:1.25rem;min-width:0}
.card+:not(.card),.copyable+*{margin-top:1.25rem}
.card>:last-child{margin-bottom:0}
.notice+h3{margin-top:1.25rem}
.card h2{font-size:1.25rem}
.figures{display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(8.75rem,1fr));margin:0 0 1.25rem;padding:0}
.figure{background:var(--panel);border:1px solid var(--line);border-radius:12px;padding:.8rem 1rem;min-width:0}
.figure dt{color:var(--muted);font-size:.875rem}
.figure dd{margin:0;font-size:1.5rem;font-weight:650;letter-spacing:-.02em;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.figure dd small{display:block;font-size:.8125rem;font-weight:400;letter-spacing:0;color:var(--muted)}
.facts{display:grid;grid-template-columns:auto minmax(0,1fr);gap:.3rem 1.25rem;margin:0 0 1rem}
.facts dt{color:var(--muted)}
.facts dd{margin:0;overflow-wrap:anywhere}
.scroll{overflow-x:auto;max-width:100%}
.scroll table{margin-bottom:.25rem}
button,.button{display:inline-block;background:var(--accent);color:var(--ground);border:1px solid var(--accent);border-radius:9px;padding:.55rem 1.1rem;font:inherit;font-weight:650;cursor:pointer;text-decoration:none;line-height:1.4}
button:hover,.button:hover{filter:brightness(1.08)}
button.plain,.button.plain{background:transparent;color:var(--accent);border-color:var(--line)}
button.danger{background:transparent;color:var(--delete);border-color:var(--delete)}
button.tiny{padding:.2rem .6rem;font-size:.875rem;border-radius:7px}
button[disabled]{opacity:.6;cursor:progress}
.actions{display:flex;flex-wrap:wrap;gap:.6rem;align-items:center;margin:0 0 1rem}
.actions.tight{flex-wrap:nowrap;gap:.4rem;margin:0;justify-content:flex-end}
form.stack{display:grid;gap:1.1rem;grid-template-columns:minmax(0,1fr);max-width:36rem}
form.row{display:flex;flex-wrap:wrap;gap:.75rem;align-items:end;margin:0 0 1rem}
.field label,legend{font-weight:600;display:block;margin-bottom:.25rem;padding:0}
.field .hint{color:var(--muted);font-size:.875rem;margin:.25rem 0 0}
input,select,textarea{width:100%;min-width:0;padding:.55rem .7rem;border:1px solid var(--muted);border-radius:8px;background:var(--ground);color:var(--ink);font:inherit}
input,select,form button[type=submit]:not(.tiny){height:2.65rem}
input[type=checkbox],input[type=radio]{width:auto;height:auto;margin-right:.45rem}
textarea{min-height:6rem;resize:vertical}
textarea.code{font:.875rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
[aria-invalid=true]{border-color:var(--delete)}
.fault{color:var(--delete);margin:.25rem 0 0}
fieldset{border:0;margin:0;padding:0;min-width:0}
.badge{display:inline-block;border-radius:999px;padding:.05rem .6rem;font-size:.8125rem;font-weight:600;background:var(--tint);color:var(--ink);white-space:nowrap}
.badge.good{background:var(--get-ground);color:var(--get)}
.badge.info{background:var(--post-ground);color:var(--post)}
.badge.bad{background:var(--delete-ground);color:var(--delete)}
.notice{border-radius:10px;padding:.8rem 1rem;background:var(--tint);margin:0 0 1rem;overflow-wrap:anywhere}
.notice>:last-child{margin-bottom:0}
.notice.good{background:var(--get-ground);color:var(--get)}
.notice.bad{background:var(--delete-ground);color:var(--delete)}
.notice.good a,.notice.bad a{color:inherit}
.empty{border:1px dashed var(--muted);border-radius:12px;padding:1rem 1.1rem;margin:0 0 1rem;color:var(--muted)}
.empty>:last-child{margin-bottom:0}
.copyable{position:relative}
.copyable pre{padding-right:5.5rem}
.copyable button{position:absolute;top:.6rem;right:.6rem;background:var(--code-ground);color:var(--code-ink);border-color:var(--code-muted)}
.secret{font-size:1.05rem;user-select:all;-webkit-user-select:all;overflow-wrap:anywhere}
.chart{min-height:13rem;min-width:0;position:relative}
.chart-tooltip{position:absolute;top:.25rem;z-index:2;pointer-events:none;background:var(--ink);color:var(--ground);border-radius:6px;padding:.2rem .5rem;font-size:.8125rem;white-space:nowrap}
details>summary{cursor:pointer;color:var(--accent);padding:.2rem 0}
details[open]>summary{margin-bottom:.5rem}
dialog{border:1px solid var(--line);border-radius:14px;background:var(--ground);color:var(--ink);max-width:min(40rem,calc(100vw - 2rem));width:100%;padding:1.25rem}
dialog>:last-child{margin-bottom:0}
dialog::backdrop{background:#0008}
.toolbar{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;justify-content:space-between}
.toolbar h2,.toolbar h3{margin:0}
h4{font-size:1.0625rem;margin:0 0 .35rem}
.choice{display:flex;align-items:center;gap:.5rem}
.choice label{color:var(--muted);font-size:.9375rem}
.choice select{width:auto;height:2.2rem;padding:.3rem .5rem}
.steps>li{margin-bottom:1rem}
blockquote{margin:0 0 1rem;padding:.1rem 0 .1rem .9rem;border-left:3px solid var(--line);overflow-wrap:anywhere;white-space:pre-wrap}
meter{width:7rem}
.long{min-width:12rem;overflow-wrap:anywhere}
[hidden]{display:none!important}
${cardTables("40rem")}
@media (max-width:30rem){.facts{grid-template-columns:minmax(0,1fr);gap:0}.facts dd{margin-bottom:.6rem}.figures{gap:.5rem;grid-template-columns:minmax(0,1fr)}.figure{display:flex;justify-content:space-between;align-items:baseline;gap:1rem;padding:.5rem .8rem}.figure dd{font-size:1.2rem;text-align:right}}
`

/** Styles of the components that consoles and other pages share. */
export const kitStyle = `
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.dismissible{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:.75rem;align-items:start}
.skeleton{display:grid;gap:.75rem;opacity:0;animation:shown 0s 300ms forwards}
.skeleton>div{height:1.5rem;border-radius:8px;background:var(--tint)}
.skeleton>div:nth-of-type(2){width:80%}
.skeleton>div:nth-of-type(3){width:60%}
@keyframes shown{to{opacity:1}}
@media (prefers-reduced-motion:no-preference){.skeleton>div{animation:pulse 1.6s ease-in-out infinite}}
@keyframes pulse{50%{opacity:.45}}
form.row{align-items:flex-start}
form.row .field{flex:1 1 12rem;max-width:20rem}
form.row .row-actions{margin-top:1.85rem;display:flex;gap:.5rem}
form.row .form-status{flex-basis:100%}
.form-status:empty{display:none}
button.sort{text-align:inherit;background:none;border:0;color:inherit;padding:0;font:inherit;cursor:pointer}
table.data td .actions{margin:0;justify-content:flex-end}
td.right .actions{justify-content:flex-end}
.value{display:inline-flex;flex-wrap:wrap;gap:.3rem .5rem;align-items:center}
.checks{list-style:none;padding:0;display:grid;gap:.5rem}
.checks li{display:grid;grid-template-columns:1.5rem minmax(0,1fr);margin:0}
.sign-in{max-width:36rem}
@media (max-width:40rem){
form.row .row-actions{margin-top:0;flex-basis:100%}
form.row .field{max-width:none;flex-basis:100%}
}
`

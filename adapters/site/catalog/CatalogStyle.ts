/**
 * Styles of the catalog and of tool pages.
 */
export const catalogStyle = `
.search{display:grid;gap:.9rem;grid-template-columns:minmax(0,1fr);align-items:start;margin:0 0 1.75rem}
@media (min-width:44rem){.search{grid-template-columns:minmax(0,5fr) minmax(0,3fr) minmax(0,3fr) minmax(0,3fr) auto}.search .go{padding-top:1.85rem}}
.chip{display:inline-flex;flex-wrap:wrap;gap:0 .6rem;margin:0 0 1rem}
.found{margin:0 0 .25rem;color:var(--muted)}
.tools{list-style:none;padding:0;margin:0 0 1.5rem}
.tools>li{border-top:1px solid var(--line);padding:1.15rem 0;margin:0;display:grid;gap:.75rem 2rem;grid-template-columns:minmax(0,1fr)}
@media (min-width:50rem){.tools>li{grid-template-columns:minmax(0,1fr) 25rem}}
.tools h2{font-size:1.15rem;margin:0 0 .15rem;overflow-wrap:anywhere}
.tools p{margin:0;overflow-wrap:anywhere}
.by{font-size:.9375rem;color:var(--muted)}
.by .badge{margin-left:.15rem}
.tools .about{margin-top:.4rem;display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden}
.toolbox:not(:empty){margin-top:.6rem}
.toolbox .notice{margin:.6rem 0 0}
.terms{display:grid;grid-template-columns:1.2fr 1.3fr 1.1fr .7fr;gap:.5rem 1rem;margin:0;align-content:start}
@media (max-width:30rem){.terms{grid-template-columns:1fr 1fr}}
.terms div{min-width:0}
.terms dt{color:var(--muted);font-size:.8125rem}
.terms dd{margin:0;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.terms .price{font-weight:650}
.crumb{margin:0 0 1rem}
.title{margin-bottom:.5rem;overflow-wrap:anywhere}
.lead.about{white-space:pre-line;overflow-wrap:anywhere}
.turn{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem;align-items:center}
`

export const toolStyle = `
.crumb{margin:0 0 1rem}
.title{margin-bottom:.5rem;overflow-wrap:anywhere}
.by{color:var(--muted);overflow-wrap:anywhere}
.about{white-space:pre-line;overflow-wrap:anywhere;max-width:44rem}
.toolbox:not(:empty){margin:0 0 1.25rem}
.toolbox .notice{margin:.6rem 0 0}
.split{display:grid;gap:2rem;grid-template-columns:minmax(0,1fr)}
@media (min-width:58rem){.split{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}}
.schema{max-height:26rem;overflow:auto;color-scheme:dark;scrollbar-width:thin}
.schema:focus-visible{outline-offset:-3px;outline-color:var(--code-key)}
.key{color:var(--code-key)}.str{color:var(--code-text)}.lit{color:var(--code-literal)}
.result{max-height:26rem;overflow:auto}
.charts{display:grid;gap:1.5rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,19rem),1fr))}
.charts h3{font-size:1rem;margin:0 0 .25rem}
.charts figure{margin:0}
form.stack{max-width:none}
#account{margin:1.25rem 0}
.keyless #arguments .actions{display:none}
`

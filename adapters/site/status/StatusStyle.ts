/**
 * Styles of the status page. The failed share of a day hangs from the top of its bar.
 */
export const statusStyle = `
.status{--good:#1f7a56;--warn:#a85f00;--down:#b3261e}
@media (prefers-color-scheme:dark){.status{--good:#3fae85;--warn:#f0b13c;--down:#ff7a6b}}
.summary{display:grid;gap:.15rem;border-radius:14px;padding:1.1rem 1.25rem;border:1px solid var(--line);border-left:.5rem solid var(--good);background:var(--panel);margin:0 0 1.5rem}
.summary strong{font-size:1.35rem;letter-spacing:-.015em}
.summary.degraded{border-left-color:var(--warn)}
.summary.down{border-left-color:var(--down)}
.condition{white-space:nowrap;font-weight:600}
.condition::before{content:"";display:inline-block;width:.65rem;height:.65rem;border-radius:50%;background:var(--good);margin-right:.5rem}
.condition.degraded::before{background:var(--warn);border-radius:0;transform:rotate(45deg) scale(.85)}
.condition.down::before{background:var(--down);border-radius:0}
.checks caption{display:none}
.checks td,.checks th{padding-top:.5rem;padding-bottom:.5rem}
.checks small{display:block;color:var(--muted)}
.row{padding:1.1rem 0 .4rem;border-top:1px solid var(--line)}
.status>section{margin-top:2.75rem}
.row h3{font-size:1.05rem;margin:0;letter-spacing:0;overflow-wrap:anywhere;min-width:0}
.row+h3{margin-top:2.25rem}
.row .toolbar{align-items:baseline;margin-bottom:.5rem}
.row:first-of-type h3{font-size:1.25rem}
.bars{list-style:none;display:flex;gap:1px;padding:0 0 1.7rem;margin:0;height:4rem;position:relative}
.row:first-of-type .bars{height:5rem}
.bars li{flex:1 1 0;min-width:0;margin:0;border-radius:2px;background:linear-gradient(to top,var(--good) var(--to,100%),var(--ground) var(--to,100%) calc(var(--to,100%) + 2px),var(--bad,var(--good)) calc(var(--to,100%) + 2px))}
.bars .degraded{--bad:var(--warn)}
.bars .down{--bad:var(--down)}
.bars .d1{--to:78%}.bars .d2{--to:60%}.bars .d3{--to:30%}.bars .d4{--to:-2px}
.bars .none{background:var(--tint);border-bottom:2px dotted var(--muted)}
.bars span{position:absolute;left:0;bottom:0;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);font-size:.875rem;white-space:nowrap}
.bars li:hover span{width:auto;height:auto;max-width:100%;overflow:hidden;clip-path:none;background:var(--ground);text-overflow:ellipsis;z-index:1;min-width:100%}
.bars li:hover{outline:2px solid var(--ink);outline-offset:0}
.ends{display:flex;justify-content:space-between;color:var(--muted);font-size:.8125rem;margin:-1.6rem 0 .3rem}
.legend{display:flex;flex-wrap:wrap;gap:.3rem 1.4rem;padding:0;list-style:none;color:var(--muted);font-size:.9375rem}
.legend li{margin:0;display:flex;align-items:center;gap:.5rem}
.legend i{display:inline-block;width:.5rem;height:1.2rem;border-radius:2px;background:var(--good)}
.legend .degraded{background:linear-gradient(to top,var(--good) 60%,var(--warn) 60%)}
.legend .down{background:linear-gradient(to top,var(--good) 60%,var(--down) 60%)}
.legend .none{background:var(--tint);border-bottom:2px dotted var(--muted)}
`

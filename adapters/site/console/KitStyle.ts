/**
 * Styles of the components that consoles and other pages share.
 */
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
button.sort{background:none;border:0;color:inherit;padding:0;font:inherit;cursor:pointer}
table.data td .actions{margin:0;justify-content:flex-end}
td.right .actions{justify-content:flex-end}
.value{display:inline-flex;flex-wrap:wrap;gap:.3rem .5rem;align-items:center}
.checks{list-style:none;padding:0;display:grid;gap:.5rem}
.checks li{display:grid;grid-template-columns:1.5rem minmax(0,1fr);margin:0}
.sign-in{max-width:36rem}
@media (max-width:40rem){
table.data thead{display:none}
table.data,table.data tbody{display:block}
table.data tr{display:block;border:1px solid var(--line);border-radius:10px;padding:.4rem .8rem;margin-bottom:.6rem}
table.data td,table.data td.right,table.data .right+:not(.right){display:grid;grid-template-columns:minmax(6rem,2fr) minmax(0,3fr);gap:.75rem;border:0;padding:.25rem 0;text-align:left}
table.data td::before{content:attr(data-label);color:var(--muted);font-size:.875rem}
table.data td>div{text-align:right;overflow-wrap:anywhere;min-width:0}
table.data td[data-label=""],table.data .right+td[data-label=""]{grid-template-columns:minmax(0,1fr)}
table.data td[data-label=""]::before{content:none}
form.row .row-actions{margin-top:0;flex-basis:100%}
form.row .field{max-width:none;flex-basis:100%}
}
`

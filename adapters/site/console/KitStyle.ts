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

/**
 * Styles of the documentation: contents, text and examples side by side, in one column on narrow screens.
 */
import { pageStyle } from "../kit/PageStyle.ts"
import { frameStyle } from "../kit/SiteStyle.ts"

export const docsStyle = `${pageStyle}${frameStyle}.site nav,.foot{max-width:100rem;padding-left:1.25rem;padding-right:1.25rem}
.contents{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;padding:.7rem 1.25rem;border-bottom:1px solid var(--line);font-size:.9375rem}
.contents ul{list-style:none;margin:0;padding:0;display:contents}
.contents li+li{margin:0}
.contents .label{margin:0;font-weight:650}
.contents .plain{display:none}
.contents .deep{display:none}
.contents a{text-decoration:none;display:inline-block;padding:.3rem 0}
.contents a:hover{text-decoration:underline}
main{padding:0 1.25rem;min-width:0}
.hero{padding:2.5rem 0 1.5rem}
.lead{font-size:1.25rem;line-height:1.45;color:var(--muted);max-width:40rem;text-wrap:pretty}
.hero .tall{max-height:16rem}
.base{display:flex;flex-wrap:wrap;gap:.25rem .75rem;align-items:baseline;background:var(--panel);border:1px solid var(--line);border-radius:10px;padding:.7rem 1rem;max-width:44rem}
.base .label{color:var(--muted);font-size:.875rem}
.base code{background:none;padding:0;font-size:1rem}
.part,.group{padding:2.25rem 0 1rem;border-top:1px solid var(--line)}
.scroll{overflow-x:auto}
.part>p,.part>ul,.part>pre,.part>table,.part>.scroll,.group>p{max-width:46rem}
.tracks{display:grid;gap:1.25rem;align-items:start}
.track{background:var(--panel);border:1px solid var(--line);border-radius:14px;padding:1.25rem 1.25rem .5rem;min-width:0}
.steps{list-style:none;padding:0;counter-reset:step}
.steps>li{counter-increment:step;position:relative;padding-left:2.4rem;margin-top:1rem}
.steps>li::before{content:counter(step);position:absolute;left:0;top:.05rem;width:1.6rem;height:1.6rem;border-radius:50%;background:var(--accent);color:var(--ground);font-size:.875rem;font-weight:650;display:grid;place-items:center}
.steps p{margin-bottom:.5rem}
.steps pre{font-size:.875rem;padding:.8rem .9rem}
.method{display:inline-block;font:650 .75rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;border-radius:5px;padding:.05rem .4rem;letter-spacing:.02em;background:var(--tint);color:var(--ink)}
.method.get{background:var(--get-ground);color:var(--get)}
.method.post,.method.put,.method.patch{background:var(--post-ground);color:var(--post)}
.method.delete{background:var(--delete-ground);color:var(--delete)}
.index{list-style:none;padding:0;display:grid;gap:.15rem}
.index li{display:grid;grid-template-columns:4.2rem 1fr;gap:0 .5rem;align-items:baseline;margin:0;padding:.2rem 0}
.index .method{justify-self:start}
.index a{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.875rem;overflow-wrap:anywhere}
.index li span:last-child{grid-column:2;color:var(--muted);font-size:.9375rem}
.endpoint{padding:2rem 0 1.25rem;border-top:1px solid var(--line)}
.endpoint h3{font-size:1.375rem;margin-bottom:.5rem}
.anchor{color:inherit;text-decoration:none}
.anchor::after{content:" #";color:var(--muted);opacity:0}
.anchor:hover::after,.anchor:focus-visible::after{opacity:1}
.endpoint:target .anchor::after{opacity:1;color:var(--accent)}
.line{display:flex;gap:.6rem;align-items:baseline;font-size:1rem}
.line code{font-weight:600}
.who{display:inline-block;background:var(--tint);border-radius:999px;padding:.15rem .8rem;font-size:.875rem}
.columns{display:grid;gap:.5rem 2.25rem;grid-template-columns:minmax(0,1fr)}
.text>.fields,.text>.whatever,.text>h4{margin-top:1.5rem}
.fields code,.codes code{font-size:.875em}
.fields tbody th{width:46%;padding-right:1.25rem}
.fields th>code{background:none;padding:0;font-weight:650}
.required{color:var(--accent);font-size:.8125rem;font-weight:600;white-space:nowrap}
.type{display:block;font-size:.8125rem;font-weight:400;color:var(--muted);line-height:1.5}
.type code{font-size:inherit}
h4{font-size:.9375rem;font-weight:650;margin:1.5rem 0 .4rem}
.problems{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.35rem .9rem;font-size:.9375rem}
.problems li{margin:0}
.problems a{text-decoration:none}
.problems a:hover{text-decoration:underline}
.problems a code{background:none;padding:0;color:var(--ink)}
.status{font:650 .875rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;border-radius:5px;padding:.05rem .4rem;background:var(--tint)}
.status.s2{background:var(--get-ground);color:var(--get)}
.status.s4,.status.s5{background:var(--delete-ground);color:var(--delete)}
.codes tbody th{width:45%}
.codes tr:target{background:var(--tint)}
.answer{border-top:1px solid var(--line);padding:.3rem 0}
.answer summary{cursor:pointer;padding:.3rem 0}
summary code{background:var(--tint);border-radius:4px;padding:.1em .3em}
.answer[open] summary{margin-bottom:.5rem}
.answer>.fields:only-of-type caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
figure,pre{border:1px solid color-mix(in srgb,var(--code-muted) 22%,var(--code-ground))}
figure pre{border:0}
figure{border-radius:10px;overflow:hidden;background:var(--code-ground);color:var(--code-ink)}
figcaption{display:flex;justify-content:space-between;gap:1rem;font-size:.8125rem;font-weight:600;padding:.55rem 1.1rem;color:var(--code-ink);border-bottom:1px solid color-mix(in srgb,var(--code-muted) 30%,transparent)}
.hint{font-weight:400;color:var(--code-muted)}
figure pre{margin:0;border-radius:0;font-size:.875rem}
.tall{max-height:26rem;overflow:auto;color-scheme:dark;scrollbar-width:thin}
.tall:focus-visible{outline-offset:-3px;outline-color:var(--code-key)}
.key{color:var(--code-key)}.str{color:var(--code-text)}.lit{color:var(--code-literal)}
@media (max-width:40rem){
.fields,.codes,:is(.fields,.codes) :is(caption,tbody,tr,th,td){display:block;width:auto}
.fields thead,.codes thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.fields tbody th,.codes tbody th{width:auto}
.fields tbody tr,.codes tbody tr{border-top:1px solid var(--line);padding:.6rem 0}
:is(.fields,.codes) :is(th,td){border:0;padding:.1rem 0}
.hint{display:none}
.steps>li{padding-left:0}
.steps>li>p{padding-left:2.2rem}
}
@media (min-width:60rem){
.site nav,.foot{padding-left:2rem;padding-right:2.25rem}
.frame{display:grid;grid-template-columns:16.5rem minmax(0,1fr);max-width:100rem}
.contents{display:block;position:sticky;top:0;align-self:start;max-height:100vh;overflow:auto;border-bottom:0;border-right:1px solid var(--line);padding:1.75rem 1rem 2rem 2rem;font-size:.875rem;scrollbar-width:thin}
.contents ul{display:block}
.contents .deep{display:block}
.contents .deep a{display:grid;grid-template-columns:3.4rem 1fr;gap:.4rem;align-items:baseline;color:var(--ink);line-height:1.35;padding:.25rem 0}
.contents .deep .method{font-size:.625rem;padding:.05rem .3rem;justify-self:start}
.contents .label{margin:1.5rem 0 .35rem;font-size:.8125rem}
.contents .plain{display:block;margin-top:0}
main{padding:0 2.25rem}
.hero{padding:3.5rem 0 2rem}
.index li{grid-template-columns:4.2rem minmax(0,26rem) 1fr}
.index li span:last-child{grid-column:auto}
}
@media (min-width:75rem){
.hero{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,26rem);gap:2.25rem;align-items:start}
.tracks{grid-template-columns:1fr 1fr}
.columns{grid-template-columns:minmax(0,1fr) minmax(0,26rem)}
.aside{position:sticky;top:1rem;align-self:start}
}
@media print{.contents,.skip,.hint{display:none}.tall{max-height:none}pre,figure{break-inside:avoid}}
`

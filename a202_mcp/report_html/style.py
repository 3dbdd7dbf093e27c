"""The page's only style sheet: system fonts, light and dark, and a printed form."""

STYLE = """\
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #ffffff; --soft: #5c5c5c; --line: #c9c9c9;
  --panel: #f4f4f2; --one: #1d4f91; --two: #7a4a00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e6; --paper: #161616; --soft: #a3a3a0;
  --line: #454545; --panel: #212120; --one: #8ab4f0; --two: #e0ad62; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 62rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p, dl { margin: .5rem 0; }
code { font: .85em ui-monospace, monospace; overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.counts { display: grid; grid-template-columns: repeat(3, 1fr); gap: .75rem; margin: 1rem 0; }
.counts div { border: 1px solid var(--line); background: var(--panel); padding: .75rem 1rem; }
.counts b { display: block; font-size: 1.75rem; line-height: 1.2; }
.both { display: grid; grid-template-columns: 1fr 1fr; gap: 1.25rem; }
.both section { border: 2px solid var(--ink); padding: .25rem 1rem 1rem; min-width: 0; }
.both h2 { border: 0; margin: .5rem 0; }
.both li { margin: .5rem 0; overflow-wrap: anywhere; }
.both ol { padding-left: 1.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); }
td.n, th.n { text-align: right; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
details { margin: .5rem 0; border: 1px solid var(--line); padding: .4rem .75rem; }
summary { cursor: pointer; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: .8rem/1.4 ui-monospace, monospace; margin: .5rem 0; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
svg .soft { fill: var(--soft); font-size: 11px; }
svg .lane { stroke: var(--line); stroke-dasharray: 2 4; }
svg .spine { stroke: var(--ink); stroke-width: 2; }
svg .dot { fill: var(--paper); stroke: var(--ink); stroke-width: 2; }
svg .one { fill: var(--one); } svg .two { fill: var(--two); }
@media (max-width: 44rem) { .both { grid-template-columns: 1fr; } }
@media print { body { max-width: none; padding: 0; font-size: 10pt; color: #000; background: #fff; }
  h2 { break-after: avoid; } tr, li { break-inside: avoid; } .both section { border-width: 1.5pt; }
  details::details-content { content-visibility: visible; display: block; } }
"""

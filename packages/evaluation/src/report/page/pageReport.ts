import { createHash } from 'node:crypto'
import { counted, duration, moment, whole } from '../../../../charts/src/amounts.ts'
import { escapeXml } from '../../../../charts/src/escapeText.ts'
import { percent } from '../measures.ts'
import type { Report } from '../report.ts'
import { figureWords, usd } from '../words.ts'
import { comparisonsSection } from './comparisonsSection.ts'
import { figuresSection } from './figuresSection.ts'
import { pageData } from './pageData.ts'
import type { ReportAssets } from './reportAssets.ts'

/** Sessions beside a page of a report. */
export interface ShownSessions {
  /** Name of the page that shows them: `session.html`. */
  readonly page: string
  /** Agents that it can show. */
  readonly agentIds: readonly string[]
}

/** Renders a report as one self-contained page. Pure. */
export function pageReport(report: Report, { style, script }: ReportAssets, sessions?: ShownSessions): string {
  const { grid, blocks } = pageData(report, new Set(sessions?.agentIds), sessions?.page ?? null)
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  const title = `${report.suite.name} · evaluation`
  const parts = [warnings(report), comparisonsSection(report), figuresSection(report), judge(report), tasks(report)]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeXml(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeXml(title)}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
${header(report)}
<main>
${parts.filter((part) => part !== '').join('\n')}
</main>
${notes(report)}
<dialog id="trial" aria-labelledby="trial-title"></dialog>
<script type="application/json" id="grid">${inScript(grid)}</script>
${blocks.map((block, index) => `<script type="application/json" id="trials-${index}">${inScript(block)}</script>`).join('\n')}
<script>${script}</script>
</body>
</html>
`
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Returns JSON that cannot end a script element. */
const inScript = (value: unknown): string => JSON.stringify(value).replaceAll('<', String.raw`\u003c`)

function header({
  suite,
  versions,
  startedAt,
  endedAt,
  seed,
  tasks: all,
  arms,
  trials,
  progress,
  costUsd,
}: Report): string {
  const { planned, passed, failed, errors, missing } = progress
  const shares = (
    [
      ['passed', passed],
      ['failed', failed],
      ['error', errors],
      ['missing', missing],
    ] as const
  ).filter(([, count]) => count > 0)
  const figuresOf: readonly (readonly [term: string, text: string])[] = [
    ['tasks', whole(all.length)],
    ['arms', whole(arms.length)],
    ['trials each', whole(trials)],
    ['cost', costUsd === null ? 'not priced' : usd(costUsd)],
    ['took', duration(endedAt - startedAt)],
    ['seed', String(seed)],
  ]
  const bar = shares.map(
    ([name, count]) =>
      `<rect class="${name}" x="${share(shares, name, planned)}%" width="${((count / planned) * 100).toFixed(3)}%" height="100%"/>`,
  )
  return `<header class="top">
<p class="kind">Evaluation</p>
<h1>${escapeXml(suite.name)}</h1>
<p class="meta">${escapeXml(`${moment(startedAt)} · escapement ${versions.escapement} · Node ${versions.node} · suite ${suite.digest.slice(0, 12)}`)}</p>
<dl class="facts">${figuresOf.map(([term, text]) => `<div><dt>${term}</dt><dd>${escapeXml(text)}</dd></div>`).join('')}</dl>
<div class="progress"><svg class="bar" aria-hidden="true" focusable="false">${bar.join('')}</svg>
<p>${shares.map(([name, count]) => `<span class="key ${name}">${whole(count)} ${name === 'error' ? (count === 1 ? 'error' : 'errors') : name}</span>`).join(' ')}</p></div>
</header>`
}

/** Returns the start of a part in the bar, in percent. */
function share(shares: readonly (readonly [string, number])[], name: string, planned: number): string {
  let before = 0
  for (const [other, count] of shares) {
    if (other === name) break
    before += count
  }
  return ((before / planned) * 100).toFixed(3)
}

const warnings = ({ warnings: given }: Report): string =>
  given.length === 0
    ? ''
    : `<section class="warnings" aria-labelledby="warnings"><h2 id="warnings">Read this first</h2><ul>${given.map(({ text }) => `<li>${escapeXml(text)}</li>`).join('')}</ul></section>`

function judge({ judge: given }: Report): string {
  if (given === null) return ''
  const rows = [
    ...(given.people === null ? [] : [['people', given.people] as const]),
    ['other checks', given.checks] as const,
  ]
  return `<section aria-labelledby="judge"><h2 id="judge">Judge</h2><p>${escapeXml(given.model)}, and how often others say the same as it:</p><dl class="judged">${rows
    .map(
      ([term, { agreement, kappa }]) =>
        `<dt>${term}</dt><dd>${escapeXml(agreement.value === null ? `not known: ${agreement.why}` : figureWords(agreement, percent))} <small>${escapeXml(kappa.value === null ? `kappa not known: ${kappa.why}` : `kappa ${figureWords(kappa, (value) => value.toFixed(2))}`)}, ${counted(agreement.trials, 'answer')}</small></dd>`,
    )
    .join('')}</dl></section>`
}

const tasks = ({ tasks: all }: Report): string => {
  const tags = [...new Set(all.flatMap((task) => task.tags))].toSorted()
  const option = (value: string, text = value): string =>
    `<option value="${escapeXml(value)}">${escapeXml(text)}</option>`
  return `<section aria-labelledby="tasks"><h2 id="tasks">Tasks</h2>
<form class="filters" id="filters" role="search">
<label>Find <input type="search" id="find" autocomplete="off" placeholder="name of a task"></label>
<label>Show <select id="kind">${option('all', 'all tasks')}${option('differ', 'arms differ')}${option('failed', 'not all passed')}${option('passed', 'all passed')}${option('errors', 'with errors')}${option('missing', 'with missing trials')}</select></label>
${tags.length === 0 ? '' : `<label>Tag <select id="tag">${option('', 'any')}${tags.map((tag) => option(tag)).join('')}</select></label>`}
</form>
<p class="fine" id="count" role="status"></p>
<div class="scroll" tabindex="0" role="region" aria-label="Tasks and arms"><table id="table" class="grid"></table></div>
<button type="button" id="more" hidden>Show more</button>
<noscript><p>The table of tasks needs JavaScript; report.md has it too.</p></noscript>
</section>`
}

const notes = ({ comparisons: { length } }: Report): string => `<footer><details><summary>How to read this</summary>
<p>Intervals are of 95 %, for further tasks of the same kind: tasks count the same however often they were tried, and trials of one task are not taken to be independent. Trials that ended as an error count neither as passed nor as failed.</p>
<p><b>pass@1</b> is how likely a trial passes, <b>pass^k</b> how likely k trials of a task all pass.</p>
${length === 0 ? '' : `<p>Arms are compared in pairs, the same trial of the same task in both. Passes are tested by McNemar's exact test over pairs, costs by flipping signs over tasks; p is adjusted by Holm for all tests of this report together. “No difference shown” does not say that there is none: the interval says how large it may be.</p>`}
</details></footer>`

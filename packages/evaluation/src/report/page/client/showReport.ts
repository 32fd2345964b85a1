import type { GridData, GridTask, TrialData } from '../pageData.ts'

/**
 * Script of a report's page: the sorted and filtered table of tasks, and the details of a trial. Its source text is put into the page, so it uses
 * nothing outside itself. It shows report data only as text, never as markup.
 */
export function showReport(): void {
  type Child = Node | string | null
  const words: Readonly<Record<string, string>> = { p: 'passed', f: 'failed', e: 'error', '-': 'missing' }
  /** Number of rows that are created at a time, so that a page of thousands of tasks appears at once. */
  const perStep = 100

  const byId = <T extends HTMLElement>(id: string): T | null => document.querySelector<T>(`#${id}`)
  const read = <T>(id: string): T => JSON.parse(byId(id)!.textContent) as T

  function make<K extends keyof HTMLElementTagNameMap>(
    name: K,
    attributes: Readonly<Record<string, string>> = {},
    ...children: readonly Child[]
  ): HTMLElementTagNameMap[K] {
    const element = document.createElement(name)
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
    element.append(...children.filter((child) => child !== null))
    return element
  }

  const { arms, tasks, perBlock, sessions } = read<GridData>('grid')
  const blocks = new Map<number, readonly TrialData[]>()
  /** Details of a trial, by its index among all existing trials. */
  function trialAt(place: number): TrialData {
    const index = Math.floor(place / perBlock)
    const block = blocks.get(index) ?? read<readonly TrialData[]>(`trials-${index}`)
    blocks.set(index, block)
    return block[place % perBlock]!
  }

  const table = byId<HTMLTableElement>('table')!
  const more = byId<HTMLButtonElement>('more')!
  const count = byId('count')!
  const dialog = byId<HTMLDialogElement>('trial')!
  const find = byId<HTMLInputElement>('find')!
  const kind = byId<HTMLSelectElement>('kind')!
  const tag = byId<HTMLSelectElement>('tag')

  const countOf = (outcomes: string, wanted: string): number => outcomes.split(wanted).length - 1
  function shareOf({ cells }: GridTask, arm: number): number {
    const { outcomes } = cells[arm]!
    const passed = countOf(outcomes, 'p')
    const all = passed + countOf(outcomes, 'f')
    return all === 0 ? -1 : passed / all
  }
  const sharesOf = (task: GridTask): number[] => arms.map((_, arm) => shareOf(task, arm)).filter((share) => share >= 0)
  const has = ({ cells }: GridTask, wanted: string): boolean => cells.some(({ outcomes }) => outcomes.includes(wanted))
  const kinds: Readonly<Record<string, (task: GridTask) => boolean>> = {
    all: () => true,
    differ: (task) => new Set(sharesOf(task)).size > 1,
    failed: (task) => has(task, 'f'),
    passed: (task) => !has(task, 'f') && has(task, 'p'),
    errors: (task) => has(task, 'e'),
    missing: (task) => has(task, '-'),
  }

  /** Sort order: by the given order of tasks (-1), or by an arm. */
  let sort = { by: -1, isDown: false }
  let shown: readonly GridTask[] = []
  let made = 0

  const dollars = (cost: number): string => `$${cost >= 0.995 ? cost.toFixed(2) : cost.toFixed(4)}`
  const body = make('tbody')

  function markOf(task: GridTask, arm: number, trial: number): HTMLElement {
    const { outcomes, first } = task.cells[arm]!
    const outcome = words[outcomes[trial]!]!
    if (outcome === 'missing') return make('span', { class: 'mark missing', title: `trial ${trial + 1}: missing` })
    const place = first + outcomes.slice(0, trial).replaceAll('-', '').length
    const label = `${task.id}, ${arms[arm]}, trial ${trial + 1}: ${outcome}`
    const attributes = { type: 'button', class: `mark ${outcome}`, 'data-place': String(place) }
    return make('button', { ...attributes, 'aria-label': label, title: `trial ${trial + 1}: ${outcome}` })
  }

  function cellOf(task: GridTask, arm: number): HTMLElement {
    const { outcomes, costUsd } = task.cells[arm]!
    const passed = countOf(outcomes, 'p')
    const sum = make('span', { class: 'sum' }, `${passed}/${passed + countOf(outcomes, 'f')}`)
    const marks = [...outcomes].map((_, trial) => markOf(task, arm, trial))
    const cost = costUsd === null ? null : make('span', { class: 'cost' }, dollars(costUsd))
    return make('td', {}, make('div', { class: 'cell' }, sum, ...marks, cost))
  }

  function rowOf(task: GridTask): HTMLElement {
    const tags = task.tags.map((name) => make('span', { class: 'tag' }, name))
    const free = task.isFree ? make('span', { class: 'tag free' }, 'passes without work') : null
    return make(
      'tr',
      {},
      make('th', { scope: 'row' }, `${task.id} `, ...tags, free),
      ...arms.map((_, arm) => cellOf(task, arm)),
    )
  }

  function makeMore(): void {
    body.append(...shown.slice(made, made + perStep).map(rowOf))
    made = Math.min(shown.length, made + perStep)
    more.hidden = made >= shown.length
    more.textContent = `Show ${Math.min(perStep, shown.length - made)} more of ${shown.length - made}`
  }

  function show(): void {
    const text = find.value.trim().toLowerCase()
    const wanted = tag?.value ?? ''
    const isKind = kinds[kind.value] ?? kinds['all']!
    const found = tasks.filter(
      (task) => isKind(task) && (wanted === '' || task.tags.includes(wanted)) && task.id.toLowerCase().includes(text),
    )
    const { by, isDown } = sort
    const inOrder = by < 0 ? found : found.toSorted((a, b) => shareOf(a, by) - shareOf(b, by))
    shown = isDown ? inOrder.toReversed() : inOrder
    made = 0
    body.replaceChildren()
    makeMore()
    count.textContent =
      found.length === tasks.length ? `${tasks.length} tasks` : `${found.length} of ${tasks.length} tasks`
    table.querySelectorAll('thead th').forEach((head, index) => {
      const isBy = index - 1 === by
      if (isBy) head.setAttribute('aria-sort', isDown ? 'descending' : 'ascending')
      else head.removeAttribute('aria-sort')
      head.querySelector('.arrow')!.textContent = isBy ? (isDown ? '▼' : '▲') : ''
    })
  }

  function headOf(name: string, by: number): HTMLElement {
    const arrow = make('span', { class: 'arrow', 'aria-hidden': 'true' })
    const button = make('button', { type: 'button', title: name }, make('span', {}, name), arrow)
    button.addEventListener('click', () => {
      // Of an arm the worst tasks are of interest first.
      sort = { by, isDown: sort.by === by && !sort.isDown }
      show()
    })
    return make('th', { scope: 'col' }, button)
  }

  const whole = (value: number): string => Math.round(value).toLocaleString('en-US')
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

  function metricsOf({ metrics, ms }: TrialData): HTMLElement | null {
    if (metrics === null) return null
    const { usage } = metrics
    const terms: readonly (readonly [term: string, text: string])[] = [
      ['cost', metrics.costUsd === null ? 'not priced' : dollars(metrics.costUsd)],
      ['largest request', `${whole(metrics.peakTokens)} tokens`],
      ['input', `${whole(usage.input + usage.cacheRead + usage.cacheWrite)} tokens`],
      ['from the cache', `${Math.round(metrics.cachedShare * 100)} %`],
      ['output', `${whole(usage.output)} tokens`],
      ['turns', whole(metrics.turns)],
      ['requests', whole(metrics.requests)],
      [
        'calls',
        metrics.failedCalls === 0
          ? whole(metrics.calls)
          : `${whole(metrics.calls)}, ${whole(metrics.failedCalls)} failed`,
      ],
      ['abandoned calls made again', whole(metrics.repeatedAbandoned)],
      ['recalls', whole(metrics.recalls)],
      ['prefix breaks', metrics.prefixBreaks === null ? 'not captured' : whole(metrics.prefixBreaks)],
      ['reverts, prunes, folds', `${metrics.reverts}, ${metrics.prunes}, ${metrics.folds}`],
      ['compactions, stalls', `${metrics.compactions}, ${metrics.stalls}`],
      ['at work', seconds(metrics.runMs)],
      ['with checks', seconds(ms)],
    ]
    return make(
      'dl',
      { class: 'metrics' },
      ...terms.map(([term, text]) => make('div', {}, make('dt', {}, term), make('dd', {}, text))),
    )
  }

  function scoresOf({ scores }: TrialData): HTMLElement | null {
    if (scores.length === 0) return null
    const rows = scores.map(({ name, value, passed, required, judge, reason }) =>
      make(
        'tr',
        {},
        make(
          'th',
          { scope: 'row' },
          `${name} `,
          ...(judge === true ? [make('span', { class: 'tag' }, 'judge')] : []),
          ...(required ? [] : [make('span', { class: 'tag' }, 'not required')]),
        ),
        make('td', {}, make('span', { class: `badge ${passed ? 'passed' : 'failed'}` }, passed ? 'passed' : 'failed')),
        make('td', {}, String(Math.round(value * 1000) / 1000)),
        make('td', {}, reason ?? ''),
      ),
    )
    const head = ['check', 'outcome', 'score', 'what was seen'].map((name) => make('th', { scope: 'col' }, name))
    return make(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Checks' },
      make('table', {}, make('tr', {}, ...head), ...rows),
    )
  }

  /** Index of the last existing trial, in the order of the report. */
  const last =
    tasks.reduce(
      (sum, { cells }) => sum + cells.reduce((all, { outcomes }) => all + outcomes.replaceAll('-', '').length, 0),
      0,
    ) - 1
  let open = -1

  function step(name: string, to: number): HTMLButtonElement {
    const button = make('button', { type: 'button', class: 'bare' }, name)
    button.disabled = to < 0 || to > last
    button.addEventListener('click', () => showTrial(to, name))
    return button
  }

  function close(): HTMLButtonElement {
    const button = make('button', { type: 'button', class: 'bare' }, 'Close')
    button.addEventListener('click', () => dialog.close())
    return button
  }

  function linkOf({ agentId }: TrialData): HTMLElement | null {
    if (agentId === undefined || sessions === null) return null
    const href = `${sessions}#agent=${encodeURIComponent(agentId)}`
    return make('p', {}, make('a', { href }, 'Look at the session'))
  }

  /** Shows a trial; `focused`: the button that keeps the focus, as it was clicked. */
  function showTrial(place: number, focused?: string): void {
    const trial = trialAt(place)
    open = place
    const { task, arm, outcome, error, answer, stopReason, models, seed } = trial
    const title = make('h2', { id: 'trial-title' }, task, make('small', {}, `${arm}, trial ${trial.trial + 1}`))
    const badge = make('span', { class: `badge ${outcome}` }, outcome)
    const told = [`seed ${seed}`, stopReason === null ? '' : `ended with ${stopReason}`, models.join(', ')].filter(
      (text) => text !== '',
    )
    const part = (name: string, text: string): HTMLElement =>
      make('section', {}, make('h3', {}, name), make('pre', { tabindex: '0' }, text))
    const sheet = make(
      'div',
      { class: 'sheet' },
      make('header', {}, title, step('Previous', place - 1), step('Next', place + 1), close()),
      make('p', {}, badge, ` ${told.join(' · ')}`),
      linkOf(trial),
      error === null ? null : part('Error', `${error.code}: ${error.message}`),
      scoresOf(trial),
      answer === '' ? null : part('Answer', answer),
      metricsOf(trial),
    )
    dialog.replaceChildren(sheet)
    if (!dialog.open) dialog.showModal()
    dialog.scrollTop = 0
    const buttons = [...sheet.querySelectorAll<HTMLButtonElement>('header button')]
    const kept = buttons.find(({ textContent, disabled }) => textContent === focused && !disabled)
    ;(kept ?? buttons.at(-1)!).focus()
    history.replaceState(null, '', `#${new URLSearchParams({ trial: String(trial.trial + 1), task, arm })}`)
  }

  function openFromAddress(): void {
    const asked = new URLSearchParams(location.hash.slice(1))
    const task = tasks.find(({ id }) => id === asked.get('task'))
    const cell = task?.cells[arms.indexOf(asked.get('arm') ?? '')]
    const trial = Number(asked.get('trial')) - 1
    if (cell === undefined || !/[pfe]/.test(cell.outcomes[trial] ?? '-')) return
    showTrial(cell.first + cell.outcomes.slice(0, trial).replaceAll('-', '').length)
  }

  table.append(make('thead', {}, make('tr', {}, headOf('task', -1), ...arms.map(headOf))), body)
  table.addEventListener('click', ({ target }) => {
    const place = target instanceof Element ? target.closest<HTMLElement>('[data-place]')?.dataset['place'] : undefined
    if (place !== undefined) showTrial(Number(place))
  })
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close()
  })
  dialog.addEventListener('close', () => {
    history.replaceState(null, '', location.pathname + location.search)
    const mark = body.querySelector<HTMLElement>(`[data-place="${open}"]`)
    mark?.focus()
  })
  more.addEventListener('click', makeMore)
  for (const field of [find, kind, tag]) field?.addEventListener('input', show)
  byId('filters')!.addEventListener('submit', (event) => event.preventDefault())
  addEventListener('hashchange', openFromAddress)
  show()
  openFromAddress()
}

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { SpendSaved } from '../../../../../wire/src/spend.ts'
import { age, counted, dollars, duration, money } from '../../../../../charts/src/amounts.ts'
import { rangeWords } from '../../../../../charts/src/savingsWords.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { nameOf } from '../../model/sessions/agentNames.ts'
import type { Overview, OverviewRow } from '../../model/sessions/overview.ts'
import {
  metadataKeys,
  savedInAll,
  spendOfLate,
  type Rates,
  type SpendOfLate,
} from '../../model/sessions/spendOfLate.ts'
import { formatCount, formatShare } from '../../model/words/numbers.ts'
import { oneLine } from '../../model/words/shortText.ts'

/** Interval at which a server is asked again, in milliseconds. */
const againMs = 30_000

export interface HomeTilesProps {
  readonly inspector: Inspector
  readonly overview: Overview
  readonly now: number
  readonly onRates: (rates: Rates) => void
}

/** Figures of all agents: those that need a person, those at work, and the cost. */
export function HomeTiles({ inspector, overview, now, onRates }: HomeTilesProps) {
  const [by, setBy] = useState('definition')
  const { late, saved } = useMoney(inspector, by)
  useEffect(() => {
    if (late !== undefined) onRates(late.rates)
  }, [late])
  const { counts, all, costUsd } = overview
  const waiting = all.filter(({ pending }) => pending !== null)
  const oldest = waiting.reduce((first, { since }) => (since === 0 ? first : Math.min(first, since)), now)
  const working = all.filter(({ standing }) => standing === 'working')
  const longest = working.reduce((first, { since }) => (since === 0 ? first : Math.min(first, since)), now)
  const most = mostExpensive(all)
  const isSpending = late !== undefined && late.rate >= 0.005
  return (
    <dl class="home-tiles number">
      <Tile name="Needs you" kind={waiting.length > 0 ? 'is-warn' : ''} value={counted(waiting.length, 'decision')}>
        {[
          ...(waiting.length === 0 ? [] : [`oldest ${age(now - oldest)}`]),
          `${formatCount(counts.failed)} failed`,
          `${formatCount(counts.paused)} paused`,
        ].join(' · ')}
      </Tile>
      <Tile name="Working" value={`${formatCount(counts.working)} of ${formatCount(all.length)}`}>
        {working.length === 0 ? 'nobody works' : `longest ${duration(now - longest)}`}
      </Tile>
      <Tile name="Spent by running agents" value={money(costUsd)}>
        {isSpending ? <span class="is-bad">{dollars(late.rate)}/min</span> : null}
        {most === undefined || costUsd === 0 ? null : (
          <>
            {isSpending ? ' · ' : ''}
            {formatShare(most.costUsd / costUsd)} by{' '}
            <button type="button" class="link" onClick={() => inspector.go({ agent: most.agentId })}>
              {oneLine(nameOf(most.of), 40)}
            </button>
          </>
        )}
      </Tile>
      {saved === undefined || saved.agents === 0 ? null : <SavedTile saved={saved} />}
      {late === undefined ? null : (
        <div class="home-hour">
          <dt>
            Spent in the last hour, by{' '}
            <select
              class="input"
              aria-label="Spending by"
              value={by}
              onChange={({ currentTarget }) => setBy(currentTarget.value)}
            >
              {['definition', 'model'].map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
              {metadataKeys(inspector.attached.value.directory.agents.value.values()).map((key) => (
                <option key={` ${key}`} value={` ${key}`}>
                  {key}
                </option>
              ))}
            </select>
          </dt>
          <dd>
            <Bars late={late} />
            <Shares late={late} />
          </dd>
        </div>
      )}
    </dl>
  )
}

interface TileProps {
  readonly name: string
  readonly value: string
  readonly kind?: string
  readonly title?: string
  readonly children: ComponentChildren
}

const Tile = ({ name, value, kind = '', title, children }: TileProps) => (
  <div title={title}>
    <dt>{name}</dt>
    <dd>
      <strong class={kind}>{value}</strong>
      <span class="muted small">{children}</span>
    </dd>
  </div>
)

/** Savings in all logs, at the prices in them. */
const SavedTile = ({ saved: { agents, tokens, usd, unpriced } }: { readonly saved: SpendSaved }) => (
  <Tile name="Saved by brakes" value={rangeWords(usd)} title={howSaved(unpriced.agents)}>
    {counted(tokens, 'token')}, net · {counted(agents, 'agent')}
  </Tile>
)

const howSaved = (unpriced: number): string =>
  [
    'Of all agents that are kept here, since their beginnings: what their requests would have had without brakes, at most the context window, at the prices of the models that answered, less what the brakes cost.',
    'From: the cache would have held all of it; to: the share of it that was measured.',
    ...(unpriced === 0 ? [] : [`${counted(unpriced, 'agent')} without sound prices not counted.`]),
  ].join(' ')

/** Number of groups with a colour of their own. */
const shown = 3

/** Bars of the last hour, five minutes each, stacked by the largest groups. */
function Bars({ late: { hour } }: { readonly late: SpendOfLate }) {
  const parts = hour.groups.slice(0, shown).map(({ over = [] }) => over)
  const sums = Array.from({ length: 12 }, (_, at) => hour.groups.reduce((sum, { over }) => sum + (over?.[at] ?? 0), 0))
  const most = Math.max(...sums, Number.MIN_VALUE)
  return (
    <svg
      class="home-bars"
      viewBox="0 0 132 40"
      role="img"
      aria-label={`Spent in each five minutes of the last hour, at most ${dollars(Math.max(...sums))}`}
    >
      {sums.map((sum, at) => {
        let y = 40
        const pieces = parts.map((over) => over[at] ?? 0)
        pieces.push(Math.max(0, sum - pieces.reduce((one, other) => one + other, 0)))
        return pieces.map((costUsd, group) => {
          const height = (40 * costUsd) / most
          y -= height
          return height === 0 ? null : (
            <rect key={`${at} ${group}`} class={`share-${group}`} x={at * 11} width="9" y={y} height={height} />
          )
        })
      })}
    </svg>
  )
}

function Shares({ late: { hour } }: { readonly late: SpendOfLate }) {
  const first = hour.groups.slice(0, shown)
  const rest = hour.costUsd - first.reduce((sum, { costUsd }) => sum + costUsd, 0)
  const { unpriced } = hour
  return (
    <ul class="home-shares small">
      {first.map(({ key, costUsd }, at) => (
        <li key={key}>
          <i class={`share-${at}`} aria-hidden="true" />
          <bdi class="cut">{oneLine(key ?? 'none', 40)}</bdi> {dollars(costUsd)}
        </li>
      ))}
      {hour.total <= shown ? null : (
        <li>
          <i class={`share-${shown}`} aria-hidden="true" />
          {counted(hour.total - shown, 'other')} {dollars(Math.max(0, rest))}
        </li>
      )}
      {hour.total === 0 ? <li class="muted">nothing</li> : null}
      {unpriced.requests === 0 ? null : <li class="muted">{counted(unpriced.requests, 'request')} without a price</li>}
    </ul>
  )
}

function mostExpensive(rows: readonly OverviewRow[]): OverviewRow | undefined {
  let most: OverviewRow | undefined
  for (const row of rows)
    if (!row.isSession && row.of.path.length === 0 && row.costUsd > (most?.costUsd ?? 0)) most = row
  return most
}

interface Money {
  readonly late?: SpendOfLate
  readonly saved?: SpendSaved
}

/** Returns recent spending and savings, requested again and again. Empty if the server does not tell. */
function useMoney({ attached, clock }: Inspector, by: string): Money {
  const { connection } = attached.value
  const [figures, setFigures] = useState<Money>({})
  const mayAsk = connection.status.value === 'open' && connection.may.value('see.all')
  useEffect(() => {
    if (!mayAsk) return setFigures({})
    let isOver = false
    let cancel = (): void => {}
    const ask = (): void => {
      const groups = by.startsWith(' ') ? { metadata: by.slice(1) } : (by as 'definition' | 'model')
      spendOfLate(connection.client, groups, clock.now())
        .then(async (late) => {
          if (isOver) return
          setFigures(({ saved }) => ({ late, ...(saved === undefined ? {} : { saved }) }))
          // The first time all logs are read for it: nothing else is to wait.
          const saved = await savedInAll(connection.client)
          if (isOver) return
          setFigures({ late, ...(saved === undefined ? {} : { saved }) })
          cancel = clock.after(againMs, ask)
        })
        // A server of an older version does not know the question.
        .catch(() => {})
    }
    ask()
    return () => {
      isOver = true
      cancel()
    }
  }, [connection, mayAsk, clock, by])
  return figures
}

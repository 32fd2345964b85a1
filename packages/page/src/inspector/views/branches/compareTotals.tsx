import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { money, tookWords } from '../../../../../charts/src/amounts.ts'
import { standingWords } from '../../../../../charts/src/standing.ts'
import type { AgentViewState } from '../../model/agent/agentView.ts'
import { sharedRecords, SideTotals, type Totals } from '../../model/branches/compareTotals.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { formatCount } from '../../model/words/numbers.ts'
import { emptyRoute, formatRoute } from '../../model/shell/route.ts'
import { forDisplay, oneLine } from '../../model/words/shortText.ts'
import { viewStanding } from '../../model/agent/viewStanding.ts'

export interface CompareTotalsProps {
  readonly inspector: Inspector
  readonly left: AgentViewState
  readonly right: AgentViewState
}

const facts: readonly (readonly [name: string, of: (totals: Totals) => string])[] = [
  ['Turns', ({ turns }) => formatCount(turns)],
  ['Tokens', ({ tokens }) => formatCount(tokens)],
  ['Cost', ({ costUsd }) => money(costUsd)],
  ['Time', ({ took }) => tookWords(took)],
]

/** Turns, tokens, cost and time of two agents, overall and since they part. */
export function CompareTotals({ inspector, left, right }: CompareTotalsProps): JSX.Element {
  const shared = useMemo(() => sharedRecords(left, right), [left.past, left.records, right.past, right.records])
  return (
    <table class="compare-totals">
      <thead>
        <tr>
          <th scope="col">{shared > 0 ? 'Since the split' : <span class="hidden">Agent</span>}</th>
          <th scope="col">Now</th>
          {facts.map(([name]) => (
            <th key={name} scope="col" class="number">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <SideRow inspector={inspector} name="A" state={left} shared={shared} />
        <SideRow inspector={inspector} name="B" state={right} shared={shared} />
      </tbody>
    </table>
  )
}

interface SideRowProps {
  readonly inspector: Inspector
  readonly name: string
  readonly state: AgentViewState
  readonly shared: number
}

function SideRow({ inspector, name, state, shared }: SideRowProps): JSX.Element {
  const { agentId, past, records, at, lastSeq, last } = state
  const summary = inspector.attached.value.directory.agents.value.get(agentId)
  const title = state.title ?? summary?.title
  const totals = useMemo(() => new SideTotals(past, shared), [past, records, shared, at])
  const { all, since } = totals.of(records, at ?? lastSeq)
  const words = standingWords(viewStanding(state, summary))
  return (
    <tr>
      <th scope="row">
        <span class="badge">{name}</span>{' '}
        <a class="cut" href={formatRoute({ ...emptyRoute, agent: agentId })} title={title && oneLine(title, 200)}>
          {forDisplay(agentId)}
        </a>
      </th>
      <td title={last?.error === undefined ? undefined : oneLine(last.error.message, 400)}>
        <span class="cut">{words}</span>
      </td>
      {facts.map(([fact, of]) => {
        const [now, whole] = [of(since), of(all)]
        return (
          <td key={fact} class="number">
            {now}
            {shared > 0 && whole !== now ? <span class="faint small"> {whole} total</span> : null}
          </td>
        )
      })}
    </tr>
  )
}

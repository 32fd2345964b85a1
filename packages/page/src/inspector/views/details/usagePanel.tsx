import { useMemo } from 'preact/hooks'
import { totalTokens } from '../../../../../../src/protocol/text/messageText.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import type { LimitUse } from '../../../../../charts/src/limitUse.ts'
import { limitsUse } from '../../model/usage/limitsUse.ts'
import { costsOf, usedBelow } from '../../model/agent/viewStanding.ts'
import { SessionReader } from '../../model/agent/sessionReader.ts'
import { useNow } from '../../parts/useNow.ts'
import { isAtWork } from '../agent/nowLine.tsx'
import { money, tookWords } from '../../../../../charts/src/amounts.ts'
import type { Took } from '../../../../../charts/src/workTimes.ts'
import { formatCompact, formatCount, formatShare } from '../../model/words/numbers.ts'
import type { SessionRun, Session } from '../../../../../sessions/src/session.ts'
import { StateDot } from '../../parts/stateDot.tsx'

/** Number of runs shown; older runs are summed up in the total. */
const mostRuns = 20

interface UsagePanelProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
}

/** Usage of the agent: tokens, the share that the provider's cache answered, cost, also of its tree, limits and runs. */
export function UsagePanel({ inspector, view }: UsagePanelProps) {
  const state = view.state.value
  const { spent, conversation, records, at, lastSeq } = state
  const reader = useMemo(() => new SessionReader(records), [records])
  const session = reader.at(at ?? lastSeq)
  const { usage, turns } = spent
  const summary = inspector.attached.value.directory.agents.value.get(view.agentId)
  const { own, tree } = costsOf(state, summary)
  // As its header says.
  const sent = state.at === null ? summary?.contextTokens?.used : undefined
  const read = usage.input + usage.cacheRead + usage.cacheWrite
  const runs = session.runs.slice(-mostRuns).toReversed()
  const perTurn = trunkTokens(session)
  const facts: readonly (readonly [name: string, value: string, title?: string])[] = [
    ['In', formatCompact(read), formatCount(read)],
    ['Out', formatCompact(usage.output), formatCount(usage.output)],
    ['From cache', read === 0 ? '–' : formatShare(usage.cacheRead / read)],
    ['Cost', money(own), 'Without sub-agents'],
    ...(money(own) === money(tree) ? [] : [['Tree', money(tree), 'Including sub-agents'] as const]),
    ['Turns', formatCount(turns)],
    sent === undefined
      ? [
          state.at === null ? 'In context' : 'In context at that point',
          formatCompact(conversation.tokens),
          `${formatCount(conversation.tokens)} tokens of messages, estimated`,
        ]
      : ['In context', formatCompact(sent), `${formatCount(sent)} tokens, with instructions and tools`],
  ]
  return (
    <section class="details-part" aria-labelledby="usage-title">
      <h2 id="usage-title">Usage</h2>
      <dl class="facts number">
        {facts.map(([name, value, title]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd title={title}>{value}</dd>
          </div>
        ))}
      </dl>
      <LimitsPart inspector={inspector} view={view} />
      {perTurn.length < 2 ? null : (
        <figure>
          <Sparkline
            values={perTurn}
            label={`Tokens read per turn, over ${perTurn.length} turns: from ${formatCount(perTurn[0]!)} to ${formatCount(perTurn.at(-1)!)}, at most ${formatCount(Math.max(...perTurn))}`}
          />
          <figcaption class="faint small">Tokens read per turn</figcaption>
        </figure>
      )}
      {runs.length === 0 ? null : (
        <RunTable runs={runs} took={view.runTimes} isPast={state.at !== null} underWay={usedBelow(state, summary)} />
      )}
      {session.runs.length > mostRuns ? (
        <p class="faint small">{formatCount(session.runs.length - mostRuns)} earlier runs are included in the total.</p>
      ) : null}
    </section>
  )
}

/** The limits of the agent's last run. The time of a run under way is live. */
function LimitsPart({ inspector, view }: UsagePanelProps) {
  const state = view.state.value
  const { records, at, lastSeq, run } = state
  if (run === null) return null
  if (isAtWork(state)) return <TickingLimits inspector={inspector} view={view} />
  const end = at ?? lastSeq
  return <Limits uses={limitsUse(records, end, records[end - 1]?.time ?? 0)} />
}

function TickingLimits({ inspector, view }: UsagePanelProps) {
  const now = useNow(inspector.clock, 1_000)
  const { records, lastSeq } = view.state.value
  return <Limits uses={limitsUse(records, lastSeq, now)} />
}

const Limits = ({ uses }: { readonly uses: readonly LimitUse[] }) =>
  uses.length === 0 ? null : (
    <div class="limits number" role="group" aria-label="Limits of the last run">
      {uses.map(({ limit, used, allowed, words }) => (
        <label key={limit}>
          {words}
          <meter min={0} max={allowed} high={allowed * 0.8} optimum={0} value={Math.min(used, allowed)} />
        </label>
      ))}
    </div>
  )

interface RunTableProps {
  readonly runs: readonly SessionRun[]
  readonly took: ReadonlyMap<string, Took>
  /** True if a moment of the past is shown: a run without an end is described up to there. */
  readonly isPast: boolean
  /** Usage of sub-agents that have not answered yet, which belongs to the run under way. */
  readonly underWay: { readonly tokens: number; readonly costUsd: number }
}

const withChildren = 'Includes sub-agents'

const RunTable = ({ runs, took, isPast, underWay }: RunTableProps) => (
  <table class="runs number">
    <caption class="hidden">Runs, newest first</caption>
    <thead>
      <tr>
        <th scope="col">Run</th>
        <th scope="col">Turns</th>
        <th scope="col" title={withChildren}>
          Tokens
        </th>
        <th scope="col">Time</th>
        <th scope="col" title={withChildren}>
          Cost
        </th>
      </tr>
    </thead>
    <tbody>
      {runs.map((run) => (
        <tr key={run.id} title={run.error?.message ?? `${run.id}: ${run.cause}`}>
          <th scope="row">
            <StateDot state={run.status} /> {run.status}
          </th>
          <td>{run.turns.length}</td>
          <td>{formatCompact(totalTokens(run.usage) + (run.endedAt === undefined ? underWay.tokens : 0))}</td>
          <td>{run.endedAt === undefined && !isPast ? '…' : timeOf(run, took.get(run.id))}</td>
          <td>{money(run.costUsd + (run.endedAt === undefined ? underWay.costUsd : 0))}</td>
        </tr>
      ))}
    </tbody>
  </table>
)

/** Formats the time of a run, with the time of people apart. If the log does not tell that time, it is included. */
const timeOf = ({ startedAt, endedAt = startedAt }: SessionRun, took: Took | undefined): string =>
  tookWords(took ?? { ms: endedAt - startedAt, waitedMs: 0 })

/** Number of points that a small picture can show. */
const mostPoints = 240

/** Returns the tokens that the model read in each turn that has an answer, oldest first; for many turns, at even distances. Pure. */
function trunkTokens(session: Session): number[] {
  const turns = session.runs.flatMap((run) => run.turns).filter(({ reply }) => reply !== undefined)
  const step = Math.max(1, turns.length / mostPoints)
  const chosen: number[] = []
  for (let at = 0; at < turns.length; at += step) {
    const { input, cacheRead, cacheWrite } = turns[Math.floor(at)]!.usage
    chosen.push(input + cacheRead + cacheWrite)
  }
  return chosen
}

const width = 240
const height = 40

/** A line over successive values. `label`: description of the values. */
function Sparkline({ values, label }: { readonly values: readonly number[]; readonly label: string }) {
  if (values.length < 2) return null
  const most = Math.max(...values, 1)
  const step = width / (values.length - 1)
  const points = values.map(
    (value, at) => `${(at * step).toFixed(1)},${(height - 2 - (value / most) * (height - 4)).toFixed(1)}`,
  )
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <polygon points={`0,${height} ${points.join(' ')} ${width},${height}`} />
      <polyline points={points.join(' ')} />
    </svg>
  )
}

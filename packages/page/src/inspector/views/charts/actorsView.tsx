import type { JSX } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { people, type SequenceLane, type SequenceStep } from '../../../../../charts/src/actorSequence.ts'
import { duration } from '../../../../../charts/src/amounts.ts'
import type { AgentView } from '../../model/agent/agentView.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { emptyRoute, formatRoute } from '../../model/shell/route.ts'
import { OpenedLogs, othersId, sequenceAt, ToldRecords, withFewLanes } from '../../model/charts/treeLogs.ts'
import { EmptyState } from '../../parts/emptyState.tsx'
import { Icon } from '../../parts/icon.tsx'
import { VirtualList } from '../../parts/virtualList.tsx'

export interface ActorsViewProps {
  readonly inspector: Inspector
  readonly view: AgentView
}

const laneWidth = 168
const timeWidth = 84
const rowHeight = 36

/** Calls in the tree below the agent: a lane for each agent, time downwards. */
export function ActorsView({ inspector, view }: ActorsViewProps): JSX.Element {
  const { records, at, lastSeq, status } = view.state.value
  const { connection } = inspector.attached.value
  const opened = useMemo(() => new OpenedLogs(connection.client, inspector.batch), [connection, view.agentId])
  useEffect(() => () => opened.close(), [opened])
  const told = useRef(new ToldRecords())
  const own = told.current.of(records, at ?? lastSeq)
  const others = opened.all.value
  const { lanes, steps } = useMemo(
    () => withFewLanes(sequenceAt({ agentId: view.agentId, records: own }, others, status === 'past')),
    [own, own.length, others, status, view.agentId],
  )
  const places = new Map(lanes.map(({ id }, index) => [id, timeWidth + laneWidth * (index + 0.5)]))
  const begun = steps[0]?.time ?? 0
  const width = timeWidth + laneWidth * lanes.length
  if (steps.length === 0)
    return (
      <EmptyState icon="agents" title="No messages yet">
        <p>Prompts, sub-agent calls and approvals appear here.</p>
      </EmptyState>
    )
  return (
    <div class="actors" tabIndex={0} role="region" aria-label="Who called whom">
      <div
        class="actors-wide"
        style={{ minWidth: `${width}px`, '--lane': `${laneWidth}px`, '--time': `${timeWidth}px` }}
      >
        <div class="actors-heads">
          {lanes.map((lane) => (
            <Head key={lane.id} lane={lane} isShown={lane.id === view.agentId} onRead={() => opened.open(lane.id)} />
          ))}
        </div>
        <VirtualList
          class="actors-rows"
          count={steps.length}
          rowHeight={rowHeight}
          keyOf={(index) => index}
          isFollowing={status === 'live'}
          attributes={{ role: 'list', 'aria-label': 'Messages, oldest first' }}
          row={(index) => <Step step={steps[index]!} begun={begun} places={places} />}
        />
      </div>
    </div>
  )
}

interface HeadProps {
  readonly lane: SequenceLane
  readonly isShown: boolean
  readonly onRead: () => void
}

const Head = ({ lane: { id, label, definition, isRead }, isShown, onRead }: HeadProps): JSX.Element => (
  <div class={`actors-head ${isShown ? 'is-shown' : ''}`}>
    {id === people || id === othersId || isShown ? (
      <strong class="cut">{label}</strong>
    ) : (
      <a class="cut" href={`#agent=${encodeURIComponent(id)}&view=chart&look=actors`} title={id}>
        {label}
      </a>
    )}
    {definition !== undefined && <span class="cut faint small">{definition}</span>}
    {!isRead && (
      <button type="button" class="button quiet small" onClick={onRead} aria-label={`Read the log of ${id}`}>
        <Icon name="clock" /> read
      </button>
    )}
  </div>
)

const verbs: Readonly<Record<SequenceStep['kind'], string>> = {
  said: 'says to',
  call: 'calls',
  result: 'answers',
  failure: 'fails',
  report: 'reports to',
  asks: 'asks',
  answer: 'answers',
  handoff: 'hands over',
}

interface StepProps {
  readonly step: SequenceStep
  readonly begun: number
  readonly places: ReadonlyMap<string, number>
}

function Step({ step, begun, places }: StepProps): JSX.Element {
  const { from, to, kind, text, time, agentId, seq } = step
  const [start, end] = [places.get(from)!, places.get(to)!]
  const ahead = end >= start ? 1 : -1
  const [left, room] = start === end ? [start + 12, laneWidth] : [Math.min(start, end) + 6, Math.abs(end - start) - 12]
  const y = rowHeight - 9
  return (
    <div role="listitem" class={`actors-step is-${kind}`}>
      <span class="actors-time faint number">+{duration(Math.max(0, time - begun))}</span>
      <svg width="100%" height={rowHeight} aria-hidden="true">
        {start === end ? (
          <circle cx={start} cy={y - 4} r="5" />
        ) : (
          <>
            <path class="way" d={`M${start} ${y}H${end - ahead * 8}`} />
            <path class="tip" d={`M${end} ${y}l${-ahead * 9} -4.5v9z`} />
          </>
        )}
      </svg>
      <a
        class="cut"
        href={formatRoute({ ...emptyRoute, agent: agentId, view: 'chart', look: 'actors', at: seq })}
        style={{ left: `${left}px`, width: `${room}px` }}
        title={text}
        aria-label={`${from === people ? 'people' : from} ${verbs[kind]} ${to === people ? 'people' : to}: ${text}`}
      >
        {text || '…'}
      </a>
    </div>
  )
}

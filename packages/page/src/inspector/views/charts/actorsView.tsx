import type { JSX } from 'preact'
import { useContext, useEffect, useMemo, useRef } from 'preact/hooks'
import { people, type SequenceLane, type SequenceStep } from '../../../../../charts/src/actorSequence.ts'
import { duration } from '../../../../../charts/src/amounts.ts'
import type { AgentView } from '../../model/agent/agentView.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { emptyRoute, formatRoute } from '../../model/shell/route.ts'
import { OpenedLogs, othersId, sequenceAt, ToldRecords, withFewLanes } from '../../model/charts/treeLogs.ts'
import { actorBars, laneWidthFor, type BarPart } from '../../model/charts/actorBars.ts'
import { oneLine } from '../../model/words/shortText.ts'
import { AgentNames } from '../../parts/agentNames.ts'
import { EmptyState } from '../../parts/emptyState.tsx'
import { useWidth } from '../../parts/useWidth.ts'
import { VirtualList } from '../../parts/virtualList.tsx'

export interface ActorsViewProps {
  readonly inspector: Inspector
  readonly view: AgentView
}

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
  const running = inspector.attached.value.directory.agents.value
  // A log says of whom it calls only the id.
  const withDefinition = (lane: SequenceLane): SequenceLane => {
    const definition = lane.definition ?? running.get(lane.id)?.definition
    return definition === undefined ? lane : { ...lane, definition }
  }
  const box = useRef<HTMLDivElement>(null)
  const laneWidth = laneWidthFor(useWidth(box) - timeWidth, lanes.length)
  const bars = useMemo(() => actorBars(steps, people), [steps])
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
    <div ref={box} class="actors" tabIndex={0} role="region" aria-label="Who called whom">
      <div
        class="actors-wide"
        style={{ minWidth: `${width}px`, '--lane': `${laneWidth}px`, '--time': `${timeWidth}px` }}
      >
        <div class="actors-heads">
          {lanes.map((lane) => (
            <Head
              key={lane.id}
              lane={withDefinition(lane)}
              isShown={lane.id === view.agentId}
              onRead={() => opened.open(lane.id)}
            />
          ))}
        </div>
        <VirtualList
          class="actors-rows"
          count={steps.length}
          rowHeight={rowHeight}
          keyOf={(index) => index}
          isFollowing={status === 'live'}
          attributes={{ role: 'list', 'aria-label': 'Messages, oldest first' }}
          row={(index) => (
            <Step step={steps[index]!} bars={bars[index]!} begun={begun} places={places} laneWidth={laneWidth} />
          )}
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

function Head({ lane: { id, label, definition, isRead }, isShown, onRead }: HeadProps): JSX.Element {
  const nameOf = useContext(AgentNames)
  const isAgent = id !== people && id !== othersId
  const name = isAgent ? oneLine(nameOf(id)) : label
  const title = isAgent ? [name, definition, id].filter(Boolean).join(' · ') : undefined
  return (
    <div class={`actors-head ${isShown ? 'is-shown' : ''}`} title={title}>
      {!isAgent || isShown ? (
        <strong class="cut" dir="auto">
          {name}
        </strong>
      ) : (
        <a class="cut" dir="auto" href={`#agent=${encodeURIComponent(id)}&view=chart&look=actors`}>
          {name}
        </a>
      )}
      {definition !== undefined && <span class="cut faint small">{definition}</span>}
      {!isRead && (
        <button type="button" class="button quiet small" onClick={onRead} aria-label={`Read its log: ${id}`}>
          Read its log
        </button>
      )}
    </div>
  )
}

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
  readonly bars: readonly BarPart[]
  readonly begun: number
  readonly places: ReadonlyMap<string, number>
  readonly laneWidth: number
}

/** Half the width of a bar of activity, in pixels. */
const halfBar = 4

function Step({ step, bars, begun, places, laneWidth }: StepProps): JSX.Element {
  const nameOf = useContext(AgentNames)
  const named = (id: string): string => (id === people ? 'people' : nameOf(id))
  const { from, to, kind, text, time, agentId, seq } = step
  const [start, end] = [places.get(from)!, places.get(to)!]
  const ahead = end >= start ? 1 : -1
  const active = new Set(bars.map(({ id }) => id))
  const [out, tip] = [start + (active.has(from) ? ahead * halfBar : 0), end - (active.has(to) ? ahead * halfBar : 0)]
  const [left, room] = start === end ? [start + 12, laneWidth] : [Math.min(start, end) + 6, Math.abs(end - start) - 12]
  const y = rowHeight - 9
  return (
    <div role="listitem" class={`actors-step is-${kind}`}>
      <span class="actors-time faint number">+{duration(Math.max(0, time - begun))}</span>
      <svg width="100%" height={rowHeight} aria-hidden="true">
        {bars.map(({ id, begins, ends }) => (
          <rect
            key={id}
            class="actors-bar"
            x={places.get(id)! - halfBar}
            y={begins ? y : 0}
            width={2 * halfBar}
            height={(ends ? y : rowHeight) - (begins ? y : 0)}
          />
        ))}
        {start === end ? (
          <circle cx={start} cy={y - 4} r="5" />
        ) : (
          <>
            <path class="way" d={`M${out} ${y}H${tip - ahead * 8}`} />
            <path class="tip" d={`M${tip} ${y}l${-ahead * 9} -4.5v9z`} />
          </>
        )}
      </svg>
      <a
        class="cut"
        href={formatRoute({ ...emptyRoute, agent: agentId, view: 'chart', look: 'actors', at: seq })}
        style={{ left: `${left}px`, width: `${room}px` }}
        title={text}
        aria-label={`${named(from)} ${verbs[kind]} ${named(to)}: ${text}`}
      >
        {text || '…'}
      </a>
    </div>
  )
}

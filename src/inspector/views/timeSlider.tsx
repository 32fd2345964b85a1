import { SquareButton } from '../parts/squareButton.tsx'
import type { FollowedAgent } from '../model/followedAgent.ts'
import type { Inspector } from '../model/inspector.ts'
import { eventText } from '../model/eventWords.ts'
import { duration } from '../../charts/amounts.ts'
import { formatCount } from '../model/numbers.ts'
import { Icon } from '../parts/icon.tsx'

/** Goes to any moment of the log. Open by default when the agent is not running. */
export function TimeSlider({ inspector, view }: { readonly inspector: Inspector; readonly view: FollowedAgent }) {
  const state = view.state.value
  const { at, lastSeq, records, isRunning } = state
  const isOpen = inspector.isTimeOpen.value ?? (!isRunning || at !== null)
  if (!isOpen || lastSeq === 0) return null
  const seq = at ?? lastSeq
  const record = records[seq - 1]
  const begun = records[0]?.time ?? 0
  const go = (next: number): void =>
    inspector.go({ at: next >= lastSeq && !isRunning ? null : Math.max(1, Math.min(lastSeq, next)) }, 'replace')
  const turnsOf = (step: 1 | -1): void => {
    for (let index = seq - 1 + step; index >= 0 && index < records.length; index += step)
      if (records[index]!.type === 'turn.start') return go(index + 1)
    go(step === 1 ? lastSeq : 1)
  }
  return (
    <div class="time" role="group" aria-label="Time">
      <SquareButton label="Turn before" isQuiet onClick={() => turnsOf(-1)}>
        <span class="flip">
          <Icon name="chevron" />
        </span>
      </SquareButton>
      <input
        type="range"
        min={1}
        max={Math.max(1, lastSeq)}
        value={seq}
        aria-label="Moment of the log"
        aria-valuetext={`record ${seq} of ${lastSeq}${record === undefined ? '' : `, ${record.type}`}`}
        onInput={({ currentTarget }) => go(Number(currentTarget.value))}
      />
      <SquareButton label="Turn after" isQuiet onClick={() => turnsOf(1)}>
        <Icon name="chevron" />
      </SquareButton>
      <span class="time-text number">
        <strong>{formatCount(seq)}</strong>
        <span class="faint"> / {formatCount(lastSeq)}</span>
        {record === undefined ? null : (
          <>
            <span class="faint time-since"> +{duration(record.time - begun)}</span>
            <span class="muted cut time-what">
              {record.type} {eventText({ ...record, agentId: view.agentId, path: [] })}
            </span>
          </>
        )}
      </span>
      <button
        type="button"
        class={`button ${at === null ? '' : 'primary'}`}
        aria-pressed={at === null}
        title="Show the newest moment"
        onClick={() => inspector.go({ at: null }, 'replace')}
      >
        <Icon name="live" /> {isRunning ? 'Live' : 'End'}
      </button>
    </div>
  )
}

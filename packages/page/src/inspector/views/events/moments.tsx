import { useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { duration } from '../../../../../charts/src/amounts.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { Landmarks, momentWords, turnBeside, type LandmarkKind } from '../../model/events/landmarks.ts'
import { formatCount } from '../../model/words/numbers.ts'
import { forDisplay } from '../../model/words/shortText.ts'
import { TimePlayer } from '../../model/events/timePlayer.ts'
import { Icon } from '../../parts/icon.tsx'
import { SquareButton } from '../../parts/squareButton.tsx'

/** Number of marks that can be told apart. */
const places = 240
const speeds = [1, 10] as const

const named: Readonly<Record<LandmarkKind, string>> = {
  error: 'an error',
  revert: 'a revert',
  compaction: 'a compaction',
  prompt: 'a prompt',
  turn: 'a turn',
}

export interface MomentsProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
}

/** The slider over the log, with its landmarks, and a player. */
export function Moments({ inspector, view }: MomentsProps): JSX.Element {
  const { at, lastSeq, records, isRunning } = view.state.value
  const [landmarks] = useState(() => new Landmarks())
  const marks = landmarks.of(records, places)
  const seq = at ?? lastSeq
  const record = records[seq - 1]
  const begun = records[0]?.time ?? 0
  const go = (next: number): void =>
    inspector.go({ at: next >= lastSeq && !isRunning ? null : Math.max(1, Math.min(lastSeq, next)) }, 'replace')
  // From what was last asked for: when keys come fast it is not shown yet.
  const turn = (step: 1 | -1): void =>
    go(turnBeside(records, Math.min(lastSeq, inspector.route.peek().at ?? lastSeq), step))
  const player = usePlayer({ inspector, view })
  const words = record === undefined ? '' : forDisplay(momentWords(record, view.agentId))
  return (
    <div class="time" role="group" aria-label="Time">
      {speeds.map((speed) => {
        const isPlaying = player.speed.value === speed
        return (
          <button
            key={speed}
            type="button"
            class="button quiet time-play"
            aria-pressed={isPlaying}
            title={
              isPlaying
                ? 'Pause'
                : `Play from here${speed === 1 ? '' : ', at ten times the speed'}, skipping long waits`
            }
            onClick={() => (isPlaying ? player.pause() : player.play(speed))}
          >
            <Icon name={isPlaying ? 'pause' : 'resume'} /> ×{speed}
          </button>
        )
      })}
      <SquareButton label="Previous turn" isQuiet onClick={() => turn(-1)}>
        <span class="flip">
          <Icon name="chevron" />
        </span>
      </SquareButton>
      <span class="time-track">
        <span class="time-marks" aria-hidden="true">
          {marks.map(({ kind, seq: place }) => (
            <span
              key={place}
              class={`is-${kind}`}
              title={`Record ${place}: ${named[kind]}`}
              style={{ left: `${((place - 1) / Math.max(1, lastSeq - 1)) * 100}%` }}
              onClick={() => go(place)}
            />
          ))}
        </span>
        <input
          type="range"
          min={1}
          max={Math.max(1, lastSeq)}
          value={seq}
          aria-label="Position in the log"
          aria-valuetext={`record ${seq} of ${lastSeq}${words === '' ? '' : `, ${words}`}`}
          onInput={({ currentTarget }) => go(Number(currentTarget.value))}
          onKeyDown={(event) => {
            const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key] as 1 | -1 | undefined
            if (step === undefined || !event.shiftKey) return
            event.preventDefault()
            turn(step)
          }}
        />
      </span>
      <SquareButton label="Next turn" isQuiet onClick={() => turn(1)}>
        <Icon name="chevron" />
      </SquareButton>
      <span class="time-text number">
        <strong>{formatCount(seq)}</strong>
        <span class="faint"> / {formatCount(lastSeq)}</span>
        {record === undefined ? null : (
          <>
            <span class="faint time-since"> +{duration(record.time - begun)}</span>
            <span class="muted cut time-what" title={words}>
              {words}
            </span>
          </>
        )}
      </span>
      <button
        type="button"
        class={`button ${at === null ? '' : 'primary'}`}
        aria-pressed={at === null}
        title="Return to the newest record"
        onClick={() => inspector.go({ at: null }, 'replace')}
      >
        <Icon name="live" /> {isRunning ? 'Live' : 'End'}
      </button>
    </div>
  )
}

function usePlayer({ inspector, view }: MomentsProps): TimePlayer {
  const player = useMemo(
    () =>
      new TimePlayer({
        clock: inspector.clock,
        records: () => view.state.peek().records,
        shown: () => inspector.route.peek().at,
        show: (at) => {
          // It stays when the end is reached.
          inspector.isTimeOpen.value = true
          inspector.go({ at }, 'replace')
        },
      }),
    [inspector, view],
  )
  // At once, not with the next frame: by then it may be further on itself.
  useSignalEffect(() => player.follow(inspector.route.value.at))
  useEffect(() => () => player.close(), [player])
  return player
}

import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { duration } from '../../charts/amounts.ts'
import { Landmarks, momentWords, nextMoment, turnBeside, type LandmarkKind } from '../model/landmarks.ts'
import { formatCount } from '../model/numbers.ts'
import { forDisplay } from '../model/shortText.ts'
import { Icon } from '../parts/icon.tsx'
import { SquareButton } from '../parts/squareButton.tsx'
import type { TimeSliderProps } from './timeSlider.tsx'

/** So many marks can be told apart. */
const places = 240
const speeds = [1, 10] as const

const named: Readonly<Record<LandmarkKind, string>> = {
  error: 'what went wrong',
  revert: 'a revert',
  compaction: 'a compaction',
  prompt: 'a prompt',
  turn: 'a turn',
}

/** The slider over the log, with what stands out in it, and a player. */
export function Moments({ inspector, view }: TimeSliderProps): JSX.Element {
  const { at, lastSeq, records, isRunning } = view.state.value
  const [landmarks] = useState(() => new Landmarks())
  const marks = landmarks.of(records, places)
  const seq = at ?? lastSeq
  const record = records[seq - 1]
  const begun = records[0]?.time ?? 0
  const go = (next: number): void =>
    inspector.go({ at: next >= lastSeq && !isRunning ? null : Math.max(1, Math.min(lastSeq, next)) }, 'replace')
  const player = usePlayer(inspector, view, go)
  const words = record === undefined ? '' : forDisplay(momentWords(record, view.agentId))
  return (
    <div class="time" role="group" aria-label="Time">
      {speeds.map((speed) => {
        const isPlaying = player.speed === speed
        return (
          <button
            key={speed}
            type="button"
            class="button quiet time-play"
            aria-pressed={isPlaying}
            title={
              isPlaying
                ? 'Pause'
                : `Play from here${speed === 1 ? '' : ', ten times as fast'}; long waits are shortened`
            }
            onClick={() => player.play(isPlaying ? null : speed)}
          >
            <Icon name={isPlaying ? 'pause' : 'resume'} /> ×{speed}
          </button>
        )
      })}
      <SquareButton label="Turn before" isQuiet onClick={() => go(turnBeside(records, seq, -1))}>
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
          aria-label="Moment of the log"
          aria-valuetext={`record ${seq} of ${lastSeq}${words === '' ? '' : `, ${words}`}`}
          onInput={({ currentTarget }) => go(Number(currentTarget.value))}
          onKeyDown={(event) => {
            const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key] as 1 | -1 | undefined
            if (step === undefined || !event.shiftKey) return
            event.preventDefault()
            go(turnBeside(records, seq, step))
          }}
        />
      </span>
      <SquareButton label="Turn after" isQuiet onClick={() => go(turnBeside(records, seq, 1))}>
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
        title="Show the newest moment"
        onClick={() => inspector.go({ at: null }, 'replace')}
      >
        <Icon name="live" /> {isRunning ? 'Live' : 'End'}
      </button>
    </div>
  )
}

interface Player {
  /** `null`: it does not play. */
  readonly speed: number | null
  readonly play: (speed: number | null) => void
}

/** Goes from record to record as they came. It stops at the end, and as soon as somebody goes elsewhere. */
function usePlayer(
  inspector: TimeSliderProps['inspector'],
  view: TimeSliderProps['view'],
  go: (seq: number) => void,
): Player {
  const [speed, setSpeed] = useState<number | null>(null)
  /** Where it went last. */
  const place = useRef<number | null>(null)
  const latest = useRef(go)
  latest.current = go
  const { at } = inspector.route.value
  useEffect(() => {
    if (speed !== null && at !== place.current) setSpeed(null)
  }, [at, speed])
  useEffect(() => {
    if (speed === null) return undefined
    let cancel = (): void => {}
    const plan = (): void => {
      const { records, lastSeq } = view.state.peek()
      const next = nextMoment(records, place.current ?? lastSeq, speed)
      if (next === undefined) return setSpeed(null)
      cancel = inspector.clock.after(next.afterMs, () => {
        place.current = next.seq
        if (next.seq >= view.state.peek().lastSeq) {
          inspector.go({ at: null }, 'replace')
          return setSpeed(null)
        }
        latest.current(next.seq)
        plan()
      })
    }
    plan()
    return () => cancel()
  }, [speed, view])
  const play = (next: number | null): void => {
    const { lastSeq } = view.state.peek()
    // It stays when the end is reached.
    inspector.isTimeOpen.value = true
    if (next !== null && (at === null || at >= lastSeq)) latest.current(1)
    place.current = inspector.route.peek().at
    setSpeed(next)
  }
  return { speed, play }
}

import type { JSX } from 'preact'
import type { VisibleRow } from '../../model/conversation/graphVisible.ts'

export interface LanesProps {
  readonly shown: VisibleRow
  /** Pixels from one lane to the next. */
  readonly gap: number
  readonly lanes: number
}

/** Position of a row's mark from its top in pixels: beside its first line. */
const markPlaces = { message: 18, call: 15, tag: 25, fold: 25, memo: 25, notice: 18, repeat: 15 } as const

/** Returns the width of the lanes in pixels. */
export const lanesWidth = (gap: number, lanes: number): number => 22 + lanes * gap

/** The lines of the graph beside a row: those that pass by, its own, and its mark. */
export function Lanes({ shown, gap, lanes }: LanesProps): JSX.Element {
  const { row, passing, isJoined, goesOn } = shown
  const lane = Math.min(row.lane, lanes)
  const markAt = markPlaces[row.type]
  const xOf = (of: number): number => 10 + of * gap
  const x = xOf(lane)
  const tone = lane === 0 ? 'is-trunk' : 'is-branch'
  const passed = Array.from({ length: lane }, (_, index) => index).filter((index) => (passing & (1 << index)) !== 0)
  const isStart = row.isStart && lane > 0
  return (
    <svg class="conversation-lanes" width={lanesWidth(gap, lanes)} height="100%" aria-hidden="true">
      {passed.map((index) => (
        <line class={index === 0 ? 'is-trunk' : 'is-branch'} x1={xOf(index)} x2={xOf(index)} y1="0" y2="100%" />
      ))}
      {isJoined && <line class={tone} x1={x} x2={x} y1="0" y2={markAt} />}
      {isStart && <path class="is-branch" d={`M${x - gap} 0C${x - gap} ${markAt * 0.7} ${x} 4 ${x} ${markAt}`} />}
      {goesOn && <line class={tone} x1={x} x2={x} y1={markAt} y2="100%" />}
      <Mark row={row} x={x} markAt={markAt} />
    </svg>
  )
}

interface MarkProps {
  readonly row: VisibleRow['row']
  readonly x: number
  readonly markAt: number
}

function Mark({ row, x, markAt }: MarkProps): JSX.Element | null {
  const tone = row.lane === 0 ? 'is-trunk' : 'is-branch'
  switch (row.type) {
    case 'message':
      return (
        <circle
          class={`mark ${tone} is-${row.message.role}`}
          cx={x}
          cy={markAt}
          r={row.message.role === 'user' ? 5.5 : 4.5}
        />
      )
    case 'call':
    case 'repeat':
      return <circle class={`mark ${tone} is-call`} cx={x} cy={markAt} r="3" />
    case 'tag':
      return <path class="mark is-tag" d={`M${x} ${markAt - 6}l6 6-6 6-6-6z`} />
    case 'fold':
      return <rect class="mark is-fold" x={x - 5} y={markAt - 5} width="10" height="10" rx="2" />
    case 'memo':
      return <rect class="mark is-memo" x={x - 4} y={markAt - 4} width="8" height="8" rx="2" />
    case 'notice':
      return null
  }
}

import { whole } from '../../../../../charts/src/amounts.ts'
import { compactTokens } from '../../../../../charts/src/nowLine.ts'
import type { BrakeSaving, RequestSize } from '../../../../../sessions/src/savings/savings.ts'
import { areaPoints, areaX, areaY } from '../../model/usage/areaPoints.ts'
import { chosenOf } from '../../model/usage/contextBrakes.ts'

const box = { width: 600, height: 160, top: 8 } as const
const { width, height } = box

/** Number of requests that a picture of this width can show. */
const mostPoints = 300

interface Props {
  readonly sizes: readonly RequestSize[]
  /** Changes, each marked below the request that followed it. */
  readonly brakes: readonly BrakeSaving[]
  /** Context window in tokens. */
  readonly window: number
  readonly label: string
}

/** The size of each request, and dotted above it the size that it would have had without brakes. A table beside it has the numbers. */
export function AreaChart({ sizes, brakes, window, label }: Props) {
  const shown = chosenOf(sizes, mostPoints)
  const most = Math.max(1, ...shown.map(({ tokens, without }) => Math.max(tokens, without)))
  const marks = chosenOf(brakes, mostPoints)
  const line = (of: (size: RequestSize) => number): string => areaPoints(shown.map(of), most, box)
  const sent = line(({ tokens }) => tokens)
  // A request that only brakes made would not have been there.
  const without = line((size) => size.without)
  const windowY = areaY(window, most, box)
  return (
    <figure class="area">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {most < window ? null : <line class="area-window" x1="0" x2={width} y1={windowY} y2={windowY} />}
        <polygon class="area-sent" points={`0,${height} ${sent} ${width},${height}`} />
        <polyline class="area-without" points={without} />
        <polyline points={sent} />
        {marks.map(({ type, seq }) => {
          const at = shown.findIndex((size) => size.seq > seq)
          return at < 0 ? null : (
            <line
              key={seq}
              class={`area-mark is-${markOf(type)}`}
              x1={areaX(at, shown.length, box)}
              x2={areaX(at, shown.length, box)}
              y1={height - 7}
              y2={height}
            />
          )
        })}
      </svg>
      <figcaption class="faint small number">
        <span>
          <i class="area-key area-sent" aria-hidden="true" /> sent
        </span>
        <span>
          <i class="area-key area-dotted" aria-hidden="true" /> without brakes
        </span>
        {most < window ? null : (
          <span>
            <i class="area-key area-limit" aria-hidden="true" /> window
          </span>
        )}
        {(['fold', 'revert', 'other'] as const)
          .filter((kind) => brakes.some(({ type }) => markOf(type) === kind))
          .map((kind) => (
            <span key={kind}>
              <i class={`area-key area-tick is-${kind}`} aria-hidden="true" /> {markWords[kind]}
            </span>
          ))}
        <span class="grow" />
        <span title={`${whole(most)} tokens`}>at most {compactTokens(most)} tokens</span>
      </figcaption>
    </figure>
  )
}

const markWords = { fold: 'fold or prune', revert: 'revert', other: 'other change' } as const

const markOf = (type: BrakeSaving['type']): keyof typeof markWords =>
  type === 'prune.applied' ? 'fold' : type === 'revert.applied' ? 'revert' : 'other'

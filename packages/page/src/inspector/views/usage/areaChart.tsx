import { whole } from '../../../../../charts/src/amounts.ts'
import { compactTokens } from '../../../../../charts/src/nowLine.ts'
import { chosenOf, type RequestSize } from '../../model/usage/contextBrakes.ts'

const width = 600
const height = 160
const top = 8

/** As many requests as a picture of this width can show. */
const mostPoints = 300

/** The size of each request, and on top of it the size that it would have had without brakes. A table beside it has the numbers. */
export function AreaChart({ sizes, label }: { readonly sizes: readonly RequestSize[]; readonly label: string }) {
  const shown = chosenOf(sizes, mostPoints)
  const most = Math.max(1, ...shown.map(({ tokens, saved }) => tokens + saved))
  const x = (at: number): string => ((at * width) / Math.max(1, shown.length - 1)).toFixed(1)
  const y = (tokens: number): string => (height - ((height - top) * tokens) / most).toFixed(1)
  const line = (of: (size: RequestSize) => number): string =>
    shown.map((size, at) => `${x(at)},${y(of(size))}`).join(' ')
  const sent = line(({ tokens }) => tokens)
  const without = line(({ tokens, saved }) => tokens + saved)
  return (
    <figure class="area">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        <polygon class="area-saved" points={`0,${height} ${without} ${width},${height}`} />
        <polygon class="area-sent" points={`0,${height} ${sent} ${width},${height}`} />
        <polyline points={sent} />
      </svg>
      <figcaption class="faint small number">
        <span>
          <i class="area-key area-sent" aria-hidden="true" /> sent
        </span>
        <span>
          <i class="area-key area-saved" aria-hidden="true" /> saved
        </span>
        <span class="grow" />
        <span title={`${whole(most)} tokens`}>at most {compactTokens(most)} tokens</span>
      </figcaption>
    </figure>
  )
}

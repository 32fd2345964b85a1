import { formatCount } from '../model/words/numbers.ts'

const widths = [62, 88, 40, 74, 55, 81, 34, 67]

/** Placeholder for content that is about to be shown. `read`: number of records that have been read for it. */
export const Skeleton = ({ label, read = 0 }: { readonly label: string; readonly read?: number }) => (
  <div class="skeleton" role="status" aria-label={label}>
    {read < 1_000 ? null : <p class="muted small number">{formatCount(read)} records read</p>}
    {widths.map((width) => (
      <i key={width} style={{ width: `${width}%` }} />
    ))}
  </div>
)

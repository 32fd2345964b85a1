import { counted } from '../../../../../charts/src/amounts.ts'

/** Rows of a table or list; the older ones are counted. */
export const mostRows = 50

export const Earlier = ({ total }: { readonly total: number }) =>
  total <= mostRows ? null : <p class="faint small">{counted(total - mostRows, 'earlier one')} not shown.</p>

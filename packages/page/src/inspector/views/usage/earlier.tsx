import { counted } from '../../../../../charts/src/amounts.ts'

/** Maximum number of rows of a table or list. Older rows are only counted. */
export const mostRows = 50

export const Earlier = ({ total }: { readonly total: number }) =>
  total <= mostRows ? null : <p class="faint small">{counted(total - mostRows, 'earlier one')} not shown.</p>

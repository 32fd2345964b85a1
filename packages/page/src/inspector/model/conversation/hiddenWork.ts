import { counted } from '../../../../../charts/src/amounts.ts'
import { isEdit } from '../../../../../charts/src/text/edits.ts'
import type { GraphRow } from './graphRow.ts'

/** Work done in a closed branch. */
export interface HiddenWork {
  steps: number
  edits: number
  failures: number
}

export const noWork = (): HiddenWork => ({ steps: 0, edits: 0, failures: 0 })

/** Adds a hidden row to the counts. */
export function addWork(work: HiddenWork, row: GraphRow): void {
  if (row.type === 'message' && row.message.role === 'assistant') work.steps += 1
  if (row.type !== 'call') return
  if (row.result?.isError === true && row.result.synthetic === undefined) work.failures += 1
  else if (isEdit(row.name, row.input)) work.edits += 1
}

/** Describes hidden work: `20 steps abandoned · 7 edits, 6 failed calls`. Pure. */
export function workWords({ steps, edits, failures }: HiddenWork): string {
  const parts = [edits > 0 ? counted(edits, 'edit') : '', failures > 0 ? counted(failures, 'failed call') : ''].filter(
    Boolean,
  )
  return [`${counted(steps, 'step')} abandoned`, parts.join(', ')].filter(Boolean).join(' · ')
}

import { capturedRequests } from '../../conversation/captureRequest.ts'
import type { LogRecord } from '../../protocol/records.ts'
import { BlockTable, sharedBlocks } from './blockTable.ts'

/** How many requests of an agent do not begin with the whole request before, block by block; `null` where none was captured. Pure. */
export function prefixBreaks(records: readonly LogRecord[]): number | null {
  const table = new BlockTable<object>({ frame: () => ({}), block: () => ({}) })
  let before: readonly object[] | undefined
  let breaks = 0
  for (const { request } of capturedRequests(records)) {
    const blocks = table.blocksOf(request)
    if (before !== undefined && sharedBlocks(before, blocks) < before.length) breaks += 1
    before = blocks
  }
  return before === undefined ? null : breaks
}

import { capturedRequests } from '../../../../src/conversation/request/captureRequest.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import { BlockTable, sharedBlocks } from './blockTable.ts'

/** Returns the number of an agent's requests that do not begin with the whole previous request, block by block; `null` if none was captured. Pure. */
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

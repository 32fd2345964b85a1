import type { Content } from '../../protocol/content.ts'
import type { GroupEntry, GroupHost, GroupOptions } from './branch.ts'
import { checkOptions, groupOptionsSchema } from './checkGroup.ts'
import { parallel, type ParallelResult } from './parallel.ts'

/**
 * Gives the same prompt to several agents at once; the first that ends well wins and the others are aborted: `parallel` with the
 * judge `'first'`. Throws as that does.
 */
export async function race(
  host: GroupHost,
  entries: readonly GroupEntry[],
  prompt: Content,
  options: GroupOptions = {},
): Promise<ParallelResult> {
  checkOptions('race', groupOptionsSchema, host, options)
  return parallel(host, entries, prompt, { ...options, judge: 'first' })
}
